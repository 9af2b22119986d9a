# sagips_add_plugin(NAME SOURCES ... [LIBRARIES target ...])
#   a shared library NAME.so with stages for `pipeline: [{plugin: NAME.so, stage: ...}]`. Headers and LibTorch are those
#   of SAGIPS; SAGIPS itself is not linked: its functions are those of the program that loads the plug-in.
set(SAGIPS_PLUGIN_DIR "${CMAKE_CURRENT_LIST_DIR}")
function(sagips_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 plugin "" "" "SOURCES;LIBRARIES")
  add_library(${name} MODULE ${plugin_SOURCES})
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so")
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} SYSTEM PRIVATE
    $<TARGET_PROPERTY:sagips::env,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${name} PRIVATE SlimTorch::torch ${plugin_LIBRARIES})
  if(TARGET sagips_version_source)  # inside the checkout
    set(header "${PROJECT_BINARY_DIR}/generated/sagips_plugin_build.h")
    add_dependencies(${name} sagips_version_source)
  else()
    set(header "${SAGIPS_PLUGIN_DIR}/sagips_plugin_build.h")
  endif()
  target_compile_options(${name} PRIVATE "SHELL:-include \"${header}\"")
endfunction()

# sagips_offer_to_plugins(PROGRAM layer ...)
#   links whole layers into a program, so that plug-ins find all of their functions. (Any program that links sagips::cli
#   offers what it uses itself.)
function(sagips_offer_to_plugins program)
  foreach(layer IN LISTS ARGN)
    target_link_options(${program} PRIVATE
      "LINKER:--whole-archive,$<TARGET_FILE:sagips::${layer}>,--no-whole-archive")
    add_dependencies(${program} sagips_${layer})
    set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS "$<TARGET_FILE:sagips::${layer}>")
  endforeach()
endfunction()
