// Graphs of what LibTorch and our own passes put on its stream, which alone knows LibTorch's part for GPUs.
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/zeros.h>
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
  explicit Graph(at::MempoolId_t shared) : memory(shared) {}
  at::cuda::CUDAGraph graph;
  at::MempoolId_t memory;
  c10::DeviceIndex device = c10::cuda::current_device();
};
Graph& of(void* graph) { return *static_cast<Graph*>(graph); }

// LibTorch leaves its allocators, and the generator of its own random numbers, as they are while a graph is made if
// that fails; a graph that is made behind it ends that for the generator.
int failed(const Graph& graph) {
  const std::string why = problem;
  guarded([&] { c10::cuda::CUDACachingAllocator::endAllocateToPool(graph.device, graph.memory); });
  guarded([&] { c10::cuda::CUDACachingAllocator::releasePool(graph.device, graph.memory); });
  guarded([&] { at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(graph.memory); });
  guarded([&] { at::getHostAllocator(at::kCUDA)->release_pool(graph.memory); });
  guarded([&] {
    Graph next(at::cuda::graph_pool_handle());
    next.graph.capture_begin(next.memory, cudaStreamCaptureModeThreadLocal);
    at::zeros({1}, at::device(at::kCUDA));
    next.graph.capture_end();
  });
  problem = why;
  return 1;
}

}  // namespace

int sagips_cuda_graph_begin(void** graph, const void* beside) {
  std::unique_ptr<Graph> made;
  const auto make = [&] {
    made = std::make_unique<Graph>(beside != nullptr ? static_cast<const Graph*>(beside)->memory
                                                     : at::cuda::graph_pool_handle());
  };
  if (guarded(make) != 0) return 1;
  const auto begin = [&] {
    made->graph.capture_begin(made->memory, cudaStreamCaptureModeThreadLocal);
  };
  if (guarded(begin) != 0) return failed(*made);
  *graph = made.release();
  return 0;
}
// A capture that is over has a pool, also if no graph could be made of it: that one is given back with it.
int sagips_cuda_graph_end(void* graph) {
  if (guarded([graph] { of(graph).graph.capture_end(); }) == 0) return 0;
  const std::string why = problem;
  const bool is_over = guarded([graph] { of(graph).graph.pool(); }) == 0;
  problem = why;
  return is_over ? 1 : failed(of(graph));
}
int sagips_cuda_graph_replay(void* graph) {
  return guarded([graph] { of(graph).graph.replay(); });
}
void sagips_cuda_graph_free(void* graph) { delete static_cast<Graph*>(graph); }
const char* sagips_cuda_graph_error(void) { return problem.c_str(); }
