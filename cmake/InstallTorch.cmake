# Run by `cmake --install`: copies libtorch_cpu, libc10 and those libraries they need that lie in the same Python
# environment (libgomp, the CUDA runtime, CUPTI), each to the same place relative to the others.
get_filename_component(_environment "${SAGIPS_TORCH_ROOT}" DIRECTORY)
file(GET_RUNTIME_DEPENDENCIES
  LIBRARIES "${SAGIPS_TORCH_ROOT}/lib/libtorch_cpu.so" "${SAGIPS_TORCH_ROOT}/lib/libc10.so"
  RESOLVED_DEPENDENCIES_VAR _needed
  UNRESOLVED_DEPENDENCIES_VAR _unresolved
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so")
if(_unresolved)
  message(FATAL_ERROR "LibTorch needs libraries that are not there: ${_unresolved}. Run tools/setup.sh.")
endif()
list(APPEND _needed "${SAGIPS_TORCH_ROOT}/lib/libtorch_cpu.so" "${SAGIPS_TORCH_ROOT}/lib/libc10.so")
list(REMOVE_DUPLICATES _needed)
foreach(_library IN LISTS _needed)
  file(RELATIVE_PATH _place "${_environment}" "${_library}")
  if(NOT _place MATCHES "^\\.\\.")
    get_filename_component(_folder "${_place}" DIRECTORY)
    file(INSTALL "${_library}" DESTINATION "${CMAKE_INSTALL_PREFIX}/${SAGIPS_TORCH_COPY_DIR}/${_folder}"
      TYPE SHARED_LIBRARY FOLLOW_SYMLINK_CHAIN)
  endif()
endforeach()
