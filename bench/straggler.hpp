#pragma once
#include <string>
#include <vector>

#include "sagips/comm/exchanges.hpp"

namespace sagips::bench {

/// An exchange, and the ranks that are slowed down in turn.
struct Composition {
  std::string label;
  std::string exchange;
  comm::ExchangesConfig config;
  std::vector<int> slow_ranks;
};

struct StragglerSettings {
  std::size_t floats = 0;
  double compute_s = 0;  ///< of an undisturbed epoch; slept, so that ranks may outnumber processors
  double slowdown = 5;
  std::int64_t epochs = 0;  ///< that each rank does where ranks wait; else as long as these take
  std::int64_t repeats = 1;
};

/// Epoch rates with one slow rank, divided by the same rank's rate without; medians over repeats.
struct Ratios {
  std::string composition;
  int slow = 0;
  double undisturbed = 0;  ///< epochs a second of the slowest rank when none is slowed down
  double others_minimum = 0, others_maximum = 0;  ///< over the ranks that are not slowed down
  double slow_rank = 0;
  double fresh =
      -1;  ///< share of looks at others that found something young enough; -1: none looks
};

/// Runs every composition undisturbed and with each of its slow ranks, `repeats` times over.
///
/// Where no rank ever waits, all run until the same time, and the rate is that of the epochs after
/// a warm-up. Where some wait, they must make the same number of calls: then all do the same number
/// of epochs, and a rank's rate is that of its middle half. Nobody's slowness ends before that half
/// does: all start together, and the slow rank is the last to end.
///
/// collective
std::vector<Ratios> straggle(comm::Communicator& communicator,
                             const std::vector<Composition>& compositions,
                             const StragglerSettings& settings);

}  // namespace sagips::bench
