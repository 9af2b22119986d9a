#pragma once
#include "sagips/simulate/cluster.hpp"

namespace sagips::simulate {

/// What a message from the first to the last rank takes, on an idle network. One for all ranks of a
/// simulation.
class LinkProbe {
 public:
  /// collective
  void measure(Cluster& cluster, comm::Communicator& communicator);
  double latency_s() const { return short_s_; }
  double bandwidth() const { return long_s_ > short_s_ ? long_bytes / (long_s_ - short_s_) : 0; }

 private:
  static constexpr double long_bytes = 1 << 20;
  double short_s_ = 0, long_s_ = 0;
};

}  // namespace sagips::simulate
