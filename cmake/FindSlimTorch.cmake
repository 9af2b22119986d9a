# Finds LibTorch inside a Python wheel or a LibTorch folder, without LibTorch's own package file: that one demands
# a CUDA toolkit, and `import torch` besides.
# Where it looks: SAGIPS_TORCH (cache or environment), the active Python, the checkout's .venv; tools/find_torch.py
# holds the rules. Gives: SlimTorch::torch, SAGIPS_TORCH_ROOT, SAGIPS_TORCH_VERSION.
set(SAGIPS_TORCH "" CACHE PATH "LibTorch to build against, a folder with include/ and lib/; empty: look for one")
set(_wanted "${SAGIPS_TORCH}")
if(NOT _wanted)
  set(_wanted "$ENV{SAGIPS_TORCH}")
endif()

# A folder found earlier serves as long as it is there and nobody asks for another one: objects built against one
# LibTorch must not be linked with the next.
if(NOT SAGIPS_TORCH_ROOT OR NOT EXISTS "${SAGIPS_TORCH_ROOT}/lib/libtorch_cpu.so"
   OR (_wanted AND NOT _wanted STREQUAL SAGIPS_TORCH_ROOT))
  find_package(Python3 COMPONENTS Interpreter QUIET)
  if(NOT Python3_FOUND)
    message(FATAL_ERROR "SAGIPS: python3 is missing; it looks for LibTorch. Run tools/setup.sh, or apt-get install python3.")
  endif()
  # The Python package is for the interpreter that is named, whose torch it has to fit.
  set(_path "$ENV{PATH}")
  if(Python_EXECUTABLE)
    cmake_path(GET Python_EXECUTABLE PARENT_PATH _path)
    string(APPEND _path ":$ENV{PATH}")
  endif()
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "PATH=${_path}" "SAGIPS_TORCH=${_wanted}" "${Python3_EXECUTABLE}"
            "${CMAKE_CURRENT_LIST_DIR}/../tools/find_torch.py"
    OUTPUT_VARIABLE _found ERROR_VARIABLE _reasons RESULT_VARIABLE _status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(_status EQUAL 0)
    list(GET _found 0 _folder)
    list(GET _found 1 SAGIPS_TORCH_VERSION)
    set(SAGIPS_TORCH_VERSION "${SAGIPS_TORCH_VERSION}" CACHE INTERNAL "version of LibTorch")
    set(SAGIPS_TORCH_ROOT "${_folder}" CACHE INTERNAL "folder of LibTorch")
    message(STATUS "LibTorch ${SAGIPS_TORCH_VERSION}: ${SAGIPS_TORCH_ROOT}")
  else()
    unset(SAGIPS_TORCH_ROOT CACHE)
    unset(SAGIPS_TORCH_VERSION CACHE)
    set(SlimTorch_NOT_FOUND_MESSAGE "${_reasons}Run tools/setup.sh, or set SAGIPS_TORCH to a folder with include/ and lib/.")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SlimTorch REQUIRED_VARS SAGIPS_TORCH_ROOT VERSION_VAR SAGIPS_TORCH_VERSION
  REASON_FAILURE_MESSAGE "${SlimTorch_NOT_FOUND_MESSAGE}")
if(SlimTorch_FOUND)
  include("${CMAKE_CURRENT_LIST_DIR}/SlimTorchTarget.cmake")
endif()
