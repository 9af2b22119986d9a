#pragma once
#include <string>

#include <c10/core/DeviceGuard.h>
#include <torch/types.h>

#include "sagips/core/random.hpp"
#include "sagips/cuda/interface.h"

namespace sagips::nn {

/// The calls of sagips/cuda/interface.h, each by its name there.
// clang-format off
#define SAGIPS_CUDA_CALLS(each) \
  each(interface) each(error) each(uniform) each(draw_rows) each(draw_positions) each(pull_back_positions) \
  each(adam) each(rmsprop) each(dense_packed_bytes) each(dense_work_bytes) each(dense_pack) each(dense_passes) \
  each(dense_outputs) each(conv3d_work_bytes) each(conv3d_outputs) each(conv3d_input_gradient) \
  each(conv3d_weight_gradient) each(pairs_work_bytes) each(pairs_forward) each(pairs_backward) \
  each(graph_begin) each(graph_end) each(graph_replay) each(graph_free) each(graph_error)
// clang-format on

/// Our own passes on a GPU, from a library that is opened at run time.
struct DeviceLibrary {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name
#define SAGIPS_CUDA_MEMBER(name) decltype(&::sagips_cuda_##name) name = nullptr;
  SAGIPS_CUDA_CALLS(SAGIPS_CUDA_MEMBER)
#undef SAGIPS_CUDA_MEMBER
};

/// A library of NVIDIA's that LibTorch's part for GPUs has brought, or the system has, opened for good; null: dlerror
/// says why not.
void* open_gpu_library(const std::string& name);

/// Null where LibTorch works alone: on a CPU, and where the library is not there.
const DeviceLibrary* device_library(const torch::Device& device);
/// Why a GPU's library is not there, in words; empty: it is, or nobody misses it.
std::string lack_of_passes(const torch::Device& device);

/// The stream (cudaStream_t) on which LibTorch works now.
void* stream_of(const torch::Device& device);
/// throws: core::Error for what a call has answered, unless that is 0
void check_device_call(const DeviceLibrary& library, int answer);

/// Memory of a device that nobody has written to.
inline torch::Tensor bytes_on(const torch::Device& device, std::int64_t count) {
  return torch::empty({count}, torch::dtype(torch::kUInt8).device(device));
}

/// Puts a call on the device's stream, behind what LibTorch has put there. throws: core::Error
template <class Call, class... Arguments>
void on_device(const torch::Device& device, Call DeviceLibrary::*call,
               const Arguments&... arguments) {
  const DeviceLibrary& library = *device_library(device);
  const c10::DeviceGuard guard(device);
  check_device_call(library, (library.*call)(arguments..., stream_of(device)));
}

/// The name of random numbers as the calls take it.
sagips_cuda_stream_name stream_name(const core::RandomStream& stream);

/// While it lives, names of this thread at that step read it from the GPU's memory, so that a graph which is made
/// meanwhile draws other numbers each time. counter: int32 [1], on the GPU
class StepFromGpu {
 public:
  StepFromGpu(std::uint32_t step, const torch::Tensor& counter);
  ~StepFromGpu();
  StepFromGpu(const StepFromGpu&) = delete;
  StepFromGpu& operator=(const StepFromGpu&) = delete;
};

}  // namespace sagips::nn
