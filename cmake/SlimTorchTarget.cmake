# Defines SlimTorch::torch from SAGIPS_TORCH_ROOT; shared by the build and by the installed package.
# torch_cpu and c10, never `torch`: that one pulls in the CUDA library, which programs open where they use a GPU.
if(NOT TARGET SlimTorch::torch)
  find_package(Threads REQUIRED)
  # The libraries alone are for sources that must not see the wheel's headers (fmt 12, oneDNN).
  add_library(SlimTorch::libraries INTERFACE IMPORTED)
  target_link_libraries(SlimTorch::libraries INTERFACE
    "${SAGIPS_TORCH_ROOT}/lib/libtorch_cpu.so" "${SAGIPS_TORCH_ROOT}/lib/libc10.so" Threads::Threads)
  add_library(SlimTorch::torch INTERFACE IMPORTED)
  target_include_directories(SlimTorch::torch SYSTEM INTERFACE
    "${SAGIPS_TORCH_ROOT}/include" "${SAGIPS_TORCH_ROOT}/include/torch/csrc/api/include")
  target_link_libraries(SlimTorch::torch INTERFACE SlimTorch::libraries)
endif()
