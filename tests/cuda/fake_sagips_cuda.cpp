// A stand-in for libsagips_cuda.so: its kernels on the CPU, on the memory of fake_torch_cuda.cpp.
#include "tests/cuda/shim_library.cpp"

void fake_cuda_put(std::function<void()> kernel);

namespace {
[[maybe_unused]] const bool is_told = (shim::put_into_graph = fake_cuda_put) != nullptr;
}
