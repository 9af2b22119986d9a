#pragma once
#include <torch/types.h>

#include "sagips/comm/exchange.hpp"
#include "sagips/core/tracer.hpp"
#include "sagips/nn/replica.hpp"

namespace sagips::train {

/// What ranks exchange of a replica, in this machine's memory: of a replica that lives there its own arrays, and
/// copies of those of a GPU, which go and come through memory that the system does not move. Weights and gradients may
/// stay on the GPU: then they are those there.
/// source: SAGIPS paper, Sec. V: gradients leave the GPU for the exchange
class HostMirror {
 public:
  HostMirror(nn::Replica& replica, bool leaves_on_gpu);

  comm::ReplicaView shared() { return {span(weights_, shared_), span(gradients_, shared_)}; }
  comm::ReplicaView statistics() {
    return {span(statistics_, statistics_.numel()), span(statistics_, statistics_.numel())};
  }

  struct Parts {
    bool gradients, weights, statistics;
  };
  /// Copies from the GPU, or back to it; returns when that is over, and how long it took [s]. On a CPU there is
  /// nothing to do.
  double take(const Parts& parts) { return copy(parts, true); }
  double give(const Parts& parts) { return copy(parts, false); }
  /// Is told of copies; null: nobody.
  void set_tracer(core::Tracer* tracer) { tracer_ = tracer; }
  bool is_copy() const { return !replica_.weights().is_cpu(); }

 private:
  double copy(const Parts& parts, bool takes);
  static std::span<float> span(torch::Tensor& numbers, std::int64_t count) {
    return {numbers.data_ptr<float>(), static_cast<std::size_t>(count)};
  }

  nn::Replica& replica_;
  core::Tracer* tracer_ = nullptr;
  std::int64_t shared_;  ///< the first numbers of weights and gradients
  torch::Tensor weights_, gradients_, statistics_;
};

}  // namespace sagips::train
