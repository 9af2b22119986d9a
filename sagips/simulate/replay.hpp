#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/comm/exchanges.hpp"
#include "sagips/core/config/config.hpp"
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
  bool alone = true;  ///< first the exchange by itself, which is when results are checked
  /// Tensor by tensor and by itself: one of each length is simulated, and its time taken as often as
  /// there are such tensors. For exchanges that all ranks end at about the same time.
  bool each_length_once = false;
  std::int64_t epochs = 10;  ///< of the scenario; 0: none
  PlatformConfig platform;
  ScenarioConfig scenario;

  void fields(core::FieldList& list);
};

/// What one simulation showed. Times are simulated, in seconds.
struct ReplayResult {
  std::string exchange;
  std::int64_t ranks = 0, floats = 0, epochs = 0;
  bool fused = true;
  bool promised = false;     ///< that all ranks end with the same mean
  bool exact = false;        ///< found: the mean within rounding, the same bits on all ranks
  double largest_error = 0;  ///< of a mean that was promised; gradients are uniform in (-0.5, 0.5)
  /// An exchange by itself, which all ranks begin at the same time, until the last one has ended;
  /// mean over the epochs of its `period()`.
  double exchange_s = 0;
  double epoch_s = 0;    ///< of the scenario, until the last rank has ended
  double exposed_s = 0;  ///< of it inside the exchange or waiting for others, mean over ranks
  double messages = 0, bytes = 0;  ///< an epoch, of the rank that sends most: what cost() says
  double sent_messages = 0, sent_bytes = 0;  ///< an epoch, of the rank that sent most
  double latency_s = 0, bandwidth = 0;  ///< of a message from the first to the last rank, measured
  double predicted_s = 0;               ///< messages * latency + bytes / bandwidth
  std::vector<double> epochs_per_s;     ///< of the scenario, by rank, over its own time
  /// What central weights do in the scenario; 0 where there are none.
  double steps_per_s = 0;                ///< of all ranks that compute, together
  double updates_per_s = 0;              ///< of an owner's piece, mean over owners
  double age_mean = 0, age_maximum = 0;  ///< of a share, in updates of the piece since its weights
  double busiest_bytes = 0;              ///< an epoch, sent by the rank that sent most
  double host_s = 0;                     ///< what the simulation took
  double host_bytes = 0;                 ///< most memory that it used

  void fields(core::FieldList& list);
};

/// Needs SimGrid (sagips::simulator); once in the life of a process.
/// throws: ConfigError for what is refused, core::Error for ranks that wait for each other
ReplayResult replay(const ReplayConfig& config);

}  // namespace sagips::simulate
