#pragma once
#include <torch/types.h>

#include "sagips/comm/exchange.hpp"
#include "sagips/nn/replica.hpp"

namespace sagips::train {

/// What ranks exchange of a replica, in this machine's memory: of a replica that lives there its own arrays, and
/// copies of those of a GPU, which go and come through memory that the system does not move.
/// source: SAGIPS paper, Sec. V: gradients leave the GPU for the exchange
class HostMirror {
 public:
  explicit HostMirror(nn::Replica& replica);

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
  bool is_copy() const { return !replica_.weights().is_cpu(); }

 private:
  double copy(const Parts& parts, bool takes);
  static std::span<float> span(torch::Tensor& numbers, std::int64_t count) {
    return {numbers.data_ptr<float>(), static_cast<std::size_t>(count)};
  }

  nn::Replica& replica_;
  std::int64_t shared_;  ///< the first numbers of weights and gradients
  torch::Tensor weights_, gradients_, statistics_;
};

}  // namespace sagips::train
