#pragma once
#include "bench/candidate.hpp"

namespace sagips::bench {

/// Times of one candidate at one size, in seconds: medians over rounds.
///
/// `call`: all ranks leave a barrier, each clocks its own call; the slowest rank counts.
/// `loop`: the same for calls back to back, by the call. Ranks may run ahead of each other there,
///         so what a call leaves behind overlaps with the next one.
/// `inside`: as `call`, by the books of the exchange (exposed + waiting of its driver).
/// A candidate with a period is measured over whole periods, as the mean of its calls.
struct Times {
  std::string name;
  comm::Promise promise;
  std::size_t floats = 0;
  std::int64_t rounds = 0;
  double call_s = 0, loop_s = 0, inside_s = 0;
};

struct RoundLimits {
  std::int64_t rounds = 100;  ///< at most
  double seconds = 5;         ///< for one size; after that no round begins (but three are made)
};

/// Measures all candidates in turn, round by round, so that whatever disturbs the machine disturbs
/// all of them. collective
std::vector<Times> measure(comm::Communicator& communicator,
                           const std::vector<std::string>& exchanges, std::size_t floats,
                           const RoundLimits& limits);

}  // namespace sagips::bench
