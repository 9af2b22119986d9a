#include "sagips/train/gpu_trace.hpp"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <utility>

#include "sagips/nn/device.hpp"

namespace sagips::train {

GpuTrace::GpuTrace(torch::Device device, core::Tracer& tracer)
    : device_(device), tracer_(tracer), start_(mark()) {
  start_.synchronize();
  started_ = core::Tracer::Clock::now();
}

c10::Event GpuTrace::mark() const {
  c10::Event event(device_.type(), c10::EventFlag::BACKEND_DEFAULT);  // which knows the time
  event.record(c10::impl::getDeviceGuardImpl(device_.type())->getStream(device_));
  return event;
}

void GpuTrace::begin(const core::TracedSpan& span) {
  pieces_.push_back({span, mark(), c10::Event(device_.type())});
  pieces_.back().span.row = core::TraceRow::gpu;
}

void GpuTrace::end() { pieces_.back().end = mark(); }

void GpuTrace::tell() {
  if (pieces_.empty()) return;
  nn::wait_for(device_);
  const auto time_of = [&](const c10::Event& event) {
    return started_ + std::chrono::duration_cast<core::Tracer::Clock::duration>(
                          std::chrono::duration<double, std::milli>(start_.elapsedTime(event)));
  };
  for (Piece& piece : std::exchange(pieces_, {})) {
    piece.span.begin = time_of(piece.begin);
    piece.span.end = time_of(piece.end);
    tracer_.add(piece.span);
  }
}

}  // namespace sagips::train
