// Graphs of what LibTorch and our own passes put on its stream, which alone knows LibTorch's part for GPUs.
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

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

struct Graph {
  at::cuda::CUDAGraph graph;
  at::MempoolId_t memory = at::cuda::graph_pool_handle();
  c10::DeviceIndex device = c10::cuda::current_device();
};
Graph& of(void* graph) { return *static_cast<Graph*>(graph); }

// LibTorch leaves its allocators as they are while a graph is made if that fails.
void stop_taking(const Graph& graph) {
  guarded([&] { c10::cuda::CUDACachingAllocator::endAllocateToPool(graph.device, graph.memory); });
  guarded([&] { c10::cuda::CUDACachingAllocator::releasePool(graph.device, graph.memory); });
  guarded([&] { at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(graph.memory); });
  guarded([&] { at::getHostAllocator(at::kCUDA)->release_pool(graph.memory); });
}

}  // namespace

int sagips_cuda_graph_begin(void** graph) {
  return guarded([graph] {
    auto made = std::make_unique<Graph>();
    made->graph.capture_begin(made->memory, cudaStreamCaptureModeThreadLocal);
    *graph = made.release();
  });
}
int sagips_cuda_graph_end(void* graph) {
  const int answer = guarded([graph] { of(graph).graph.capture_end(); });
  if (answer == 0) return 0;
  const std::string why = problem;
  stop_taking(of(graph));
  problem = why;
  return answer;
}
int sagips_cuda_graph_replay(void* graph) {
  return guarded([graph] { of(graph).graph.replay(); });
}
void sagips_cuda_graph_free(void* graph) { delete static_cast<Graph*>(graph); }
const char* sagips_cuda_graph_error(void) { return problem.c_str(); }
