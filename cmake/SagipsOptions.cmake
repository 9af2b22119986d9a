option(SAGIPS_BUILD_TESTS "build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SAGIPS_BUILD_BENCHMARKS "build the programs of bench/" ${PROJECT_IS_TOP_LEVEL})
option(SAGIPS_INSTALL "make install rules and the find_package(sagips) files" ${PROJECT_IS_TOP_LEVEL})
option(SAGIPS_CUDA "link LibTorch's CUDA libraries (needs the full wheel set and a CUDA toolkit)" OFF)
set(SAGIPS_MPI AUTO CACHE STRING "MPI for training over ranks: AUTO (when found), ON (an error when not), OFF")
set_property(CACHE SAGIPS_MPI PROPERTY STRINGS AUTO ON OFF)
option(SAGIPS_COMM_ONLY "only the layers that need no LibTorch: core, record, comm, kernels and their tests" OFF)
option(SAGIPS_WARNINGS_AS_ERRORS "a compiler warning ends the build" OFF)
option(SAGIPS_USE_CCACHE "compile through ccache when it is there" ON)
option(SAGIPS_USE_PRECOMPILED_HEADER "read LibTorch's headers once for all sources" ON)
set(SAGIPS_SANITIZER "" CACHE STRING "address or thread: instrument everything with that sanitizer")
set_property(CACHE SAGIPS_SANITIZER PROPERTY STRINGS "" address thread)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "build type" FORCE)
endif()

# One kind of position-independent code everywhere: g++ drops a precompiled header made with -fPIC when a program is
# compiled with -fPIE, without a word, and every source then reads LibTorch again.
add_compile_options(-fPIC)

# ccache and a precompiled header agree only with these settings (ccache manual, "precompiled headers"). One that cannot
# compile here (broken, no folder that it may write) is left out. A build folder goes on as it began: another way to
# compile would compile everything again.
if(NOT DEFINED CACHE{SAGIPS_CCACHE})
  find_program(SAGIPS_CCACHE ccache)
endif()
mark_as_advanced(SAGIPS_CCACHE)
if(SAGIPS_USE_CCACHE AND SAGIPS_CCACHE)
  set(_launcher "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${SAGIPS_CCACHE}")
  set(_trial "${PROJECT_BINARY_DIR}/optional/ccache")
  file(WRITE "${_trial}.cpp" "int main() {}\n")
  execute_process(COMMAND ${_launcher} "${CMAKE_CXX_COMPILER}" -c "${_trial}.cpp" -o "${_trial}.o"
    RESULT_VARIABLE _failed OUTPUT_FILE "${_trial}.log" ERROR_FILE "${_trial}.log")
  if(_failed)
    message(STATUS "ccache cannot be used, see ${_trial}.log (Debian: ccache): nothing compiled is kept for later")
  else()
    set(CMAKE_CXX_COMPILER_LAUNCHER "${_launcher}")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      add_compile_options(-fpch-preprocess)
    endif()
  endif()
elseif(SAGIPS_USE_CCACHE)
  message(STATUS "ccache is not here (Debian: ccache): nothing compiled is kept for later")
endif()
