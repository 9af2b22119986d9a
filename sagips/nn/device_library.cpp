#include "sagips/nn/device_library.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::nn {

void* stream_of(const torch::Device& device) {
  const auto* const guard = c10::impl::getDeviceGuardImpl(device.type());
  return guard->getStreamNativeHandle(guard->getStream(device));
}

void check_device_call(const DeviceLibrary& library, int answer) {
  if (answer != 0)
    throw core::Error(core::text("the GPU refuses: ", library.error(answer), " (", answer,
                                 "). With device=cpu nothing is asked of it."));
}

namespace {

thread_local std::uint32_t step_of_graph = 0;
thread_local const std::uint32_t* counter_of_graph = nullptr;

}  // namespace

sagips_cuda_stream_name stream_name(const core::RandomStream& stream) {
  const core::RandomStream::Name name = stream.name();
  if (counter_of_graph != nullptr && name.step == step_of_graph)
    return {{name.key[0], name.key[1]}, counter_of_graph, 0};
  return {{name.key[0], name.key[1]}, nullptr, name.step};
}

StepFromGpu::StepFromGpu(std::uint32_t step, const torch::Tensor& counter) {
  step_of_graph = step;
  counter_of_graph = static_cast<const std::uint32_t*>(counter.const_data_ptr());
}
StepFromGpu::~StepFromGpu() { counter_of_graph = nullptr; }

}  // namespace sagips::nn
