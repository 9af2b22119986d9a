#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/comm/exchanges.hpp"
#include "sagips/core/config.hpp"
#include "sagips/simulate/platform.hpp"
#include "sagips/simulate/scenario.hpp"

namespace sagips::simulate {

/// One simulation: one exchange on so many ranks of one platform.
struct ReplayConfig {
  std::string exchange = "ring";
  comm::ExchangesConfig exchanges;
  std::int64_t ranks = 4;
  /// Lengths of the network's tensors, in floats; exchanged as one array, or each by itself.
  std::vector<std::int64_t> tensors = {51206};
  bool fused = true;
  std::int64_t epochs = 10;
  PlatformConfig platform;
  ScenarioConfig scenario;

  void fields(core::FieldList& list);
};

/// What one simulation showed. Times are simulated, in seconds.
struct ReplayResult {
  std::string exchange;
  std::int64_t ranks = 0, floats = 0, epochs = 0;
  bool fused = true;
  bool exact = false;        ///< promised, and found: all ranks held the same mean, bit for bit
  double largest_error = 0;  ///< of a mean that was promised, relative to the largest mean
  double epoch_s =
      0;  ///< from the end of the first epoch to the end of the last, of the last rank, an epoch
  double exchange_s =
      0;  ///< an epoch of the same without computation, pauses and transfers; 0: not asked for
  double exposed_s = 0;  ///< inside the exchange or waiting for others, mean over ranks, an epoch
  double messages = 0, bytes = 0;  ///< of the rank that sends most, an epoch: what cost() says
  double sent_messages = 0, sent_bytes = 0;  ///< of that rank, an epoch: what was counted
  double predicted_s = 0;  ///< messages * latency + bytes / bandwidth, of the platform's network
  std::vector<double> epochs_per_s;  ///< by rank, over its own time
  double host_s = 0;                 ///< what the simulation took
  double host_bytes = 0;             ///< most memory that it used
};

}  // namespace sagips::simulate
