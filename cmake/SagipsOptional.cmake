# sagips_find_optional(PACKAGE DEBIAN "packages" WITHOUT "what there is not" TARGETS target ... [COMPONENTS component ...])
#   find_package for what SAGIPS can do without. Sets PACKAGE_FOUND; when false, one status line says what it costs.
#
#   A package's own files may stop CMake: they ask for other packages with REQUIRED, which QUIET does not reach, or
#   they name files that are gone. So the package is tried first in a CMake of its own, with the cache of this one:
#   found there, and optional/PACKAGE.cpp compiled and linked with TARGETS. Only what passed is looked for here.
#   The trial stays in optional/PACKAGE of the build folder and is repeated at every configuration (0.1 s when nothing
#   changed); output.log there says why a package was refused.
#   -DCMAKE_DISABLE_FIND_PACKAGE_PACKAGE=ON hides a package.
macro(sagips_find_optional package)
  cmake_parse_arguments(optional "" "DEBIAN;WITHOUT" "TARGETS;COMPONENTS" ${ARGN})
  if(optional_COMPONENTS)
    list(PREPEND optional_COMPONENTS COMPONENTS)
  endif()
  _sagips_try_package(${package} optional_verdict "${optional_COMPONENTS}" "${optional_TARGETS}")
  set(${package}_FOUND FALSE)
  if(optional_verdict STREQUAL "usable")
    find_package(${package} QUIET ${optional_COMPONENTS})
  endif()
  if(NOT ${package}_FOUND)
    message(STATUS "${package} ${optional_verdict} (Debian: ${optional_DEBIAN}): ${optional_WITHOUT}")
  endif()
endmacro()

# The verdict: "usable", "is not here" or "cannot be used, see FILE".
function(_sagips_try_package package verdict components targets)
  set(${verdict} "is not here" PARENT_SCOPE)
  if(CMAKE_DISABLE_FIND_PACKAGE_${package})
    return()
  endif()
  set(folder "${PROJECT_BINARY_DIR}/optional/${package}")
  _sagips_write_cache("${folder}/cache.cmake")
  _sagips_lend_compilers("${folder}/build")
  list(JOIN components " " components)
  list(JOIN targets " " targets)
  set(program "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/optional/${package}.cpp")
  file(CONFIGURE OUTPUT "${folder}/CMakeLists.txt" @ONLY CONTENT [[
cmake_minimum_required(VERSION 3.22)
project(trial LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(@package@ QUIET @components@)
if(NOT @package@_FOUND)
  file(WRITE "${PROJECT_BINARY_DIR}/not_here" "")
  return()
endif()
add_executable(trial "@program@")
target_link_libraries(trial PRIVATE @targets@)
]])
  file(REMOVE "${folder}/build/not_here")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${folder}" -B "${folder}/build" -G "${CMAKE_GENERATOR}" -C "${folder}/cache.cmake"
    RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT failed AND EXISTS "${folder}/build/not_here")
    return()
  endif()
  if(NOT failed)
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${folder}/build"
      RESULT_VARIABLE failed OUTPUT_VARIABLE built ERROR_VARIABLE built)
  endif()
  file(WRITE "${folder}/output.log" "${output}${built}")
  if(failed)
    set(${verdict} "cannot be used, see ${folder}/output.log" PARENT_SCOPE)
  else()
    set(${verdict} "usable" PARENT_SCOPE)
  endif()
endfunction()

# What the user and earlier searches put into the cache (prefixes, PACKAGE_DIR, toolchain), for a trial. No
# optimisation and no instrumentation: a trial is compiled, never run.
function(_sagips_write_cache file)
  get_cmake_property(names CACHE_VARIABLES)
  set(text "")
  foreach(name IN LISTS names)
    get_property(type CACHE "${name}" PROPERTY TYPE)
    if(NOT type MATCHES "INTERNAL|STATIC" AND NOT name MATCHES "^CMAKE_BUILD_TYPE$|_FLAGS_[A-Z]+$|^CMAKE_UNITY|^SAGIPS_")
      get_property(value CACHE "${name}" PROPERTY VALUE)
      string(APPEND text "set(${name} [==[${value}]==] CACHE ${type} \"\" FORCE)\n")
    endif()
  endforeach()
  foreach(name CMAKE_MODULE_PATH CMAKE_PREFIX_PATH)
    string(APPEND text "set(${name} [==[${${name}}]==] CACHE STRING \"\" FORCE)\n")
  endforeach()
  file(WRITE "${file}" "${text}")
endfunction()

# What is known of the compilers, so that a trial need not examine them again.
function(_sagips_lend_compilers folder)
  if(NOT EXISTS "${folder}/CMakeCache.txt")
    file(GLOB known "${CMAKE_PLATFORM_INFO_DIR}/CMake*.cmake")
    file(COPY ${known} DESTINATION "${folder}/CMakeFiles/${CMAKE_VERSION}")
  endif()
endfunction()
