#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "sagips/comm/communicator.hpp"

namespace sagips::comm {

/// How a team of threads behaves.
struct ThreadTeamConfig {
  int ranks = 1;
  std::vector<int> nodes{};      ///< the node each rank pretends to sit on; empty: all on one
  std::uint64_t delay_seed = 0;  ///< with maximum_delay_us: which message is how late
  double maximum_delay_us = 0;   ///< each message arrives up to this much later
  bool reaches_gpus = false;     ///< as an MPI may; here their memory is the machine's
  const std::atomic<std::int64_t>* clock_ns = nullptr;  ///< what `now_ns` shows; none: the real one
};

/// Runs `body` once a rank, each on a thread of its own, and joins them: ranks without MPI. One that throws ends the
/// others: their next wait throws. Rethrows the first error.
void run_ranks(const ThreadTeamConfig& config, const std::function<void(Communicator&)>& body);

}  // namespace sagips::comm
