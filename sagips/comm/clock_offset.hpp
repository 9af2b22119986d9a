#pragma once
#include <cstdint>

#include "sagips/comm/ranks.hpp"

namespace sagips::comm {

/// How far the clock of rank 0 (Communicator::now_ns) is ahead of this rank's.
struct ClockOffset {
  std::int64_t offset_ns = 0;
  std::int64_t uncertainty_ns =
      0;  ///< half of the shortest round trip: the offset is right within it
};

/// Ranks on rank 0's node have its clock. Each of the others asks it `rounds` times, one after the other.
/// collective
/// source: F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3 (1989) 146
ClockOffset clock_offset(Ranks& ranks, int rounds = 64);

}  // namespace sagips::comm
