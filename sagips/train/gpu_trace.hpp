#pragma once
#include <vector>

#include <c10/core/Event.h>
#include <torch/types.h>

#include "sagips/core/tracer.hpp"

namespace sagips::train {

/// When a GPU was at what it had been given, for a trace: its own clock, put beside the CPU's once.
class GpuTrace {
 public:
  GpuTrace(torch::Device device, core::Tracer& tracer);
  /// Around what puts work on the GPU. span: its name, step and network
  void begin(const core::TracedSpan& span);
  void end();
  /// Tells the tracer of all that is over; waits for it.
  void tell();

 private:
  struct Piece {
    core::TracedSpan span;
    c10::Event begin, end;
  };
  c10::Event mark() const;

  torch::Device device_;
  core::Tracer& tracer_;
  c10::Event start_;
  core::Tracer::Clock::time_point started_;  ///< when that was, by the CPU's clock
  std::vector<Piece> pieces_;
};

}  // namespace sagips::train
