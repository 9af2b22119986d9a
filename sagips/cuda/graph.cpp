// Graphs of what LibTorch and our own passes put on its stream, which alone knows LibTorch's part for GPUs.
#include <ATen/cuda/CUDAGraph.h>

#include <exception>
#include <memory>
#include <string>

#include "sagips/cuda/interface.h"

namespace {

thread_local std::string problem;

template <class Call>
int guarded(const Call& call) {
  try {
    call();
    return 0;
  } catch (const std::exception& error) {
    problem = error.what();
    return 1;
  }
}

at::cuda::CUDAGraph& of(void* graph) { return *static_cast<at::cuda::CUDAGraph*>(graph); }

}  // namespace

// All graphs of a process share their memory: they run in the order in which they were made, again and again.
int sagips_cuda_graph_begin(void** graph) {
  return guarded([graph] {
    static const auto memory = at::cuda::graph_pool_handle();
    auto made = std::make_unique<at::cuda::CUDAGraph>();
    made->capture_begin(memory, cudaStreamCaptureModeThreadLocal);
    *graph = made.release();
  });
}
int sagips_cuda_graph_end(void* graph) {
  return guarded([graph] { of(graph).capture_end(); });
}
int sagips_cuda_graph_replay(void* graph) {
  return guarded([graph] { of(graph).replay(); });
}
void sagips_cuda_graph_free(void* graph) { delete static_cast<at::cuda::CUDAGraph*>(graph); }
const char* sagips_cuda_graph_error(void) { return problem.c_str(); }
