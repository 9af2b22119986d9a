#pragma once
#include <cstdint>
#include <string>

#include "sagips/core/config/config.hpp"
#include "sagips/nn/state.hpp"
#include "sagips/record/event.hpp"

namespace sagips::train {

struct EarlyStopConfig {
  std::int64_t patience = 0;  ///< evaluations without improvement; 0: never stop early
  double improvement = 0.05;  ///< relative: less than this does not count as better
  void fields(core::FieldList& list);
};

/// Stops when the distance between held-out measured events and synthetic ones no longer falls.
///
/// Losses are no guide (they settle before the parameters do, SAGIPS paper Sec. VI) and the truth
/// is unknown for measured events, so neither is looked at. The distance is the mean of the
/// Kolmogorov-Smirnov distances of the observables.
class EarlyStop {
 public:
  explicit EarlyStop(EarlyStopConfig config) : config_(config) {}

  /// The reason to stop, or nothing.
  std::string operator()(const record::Evaluated& evaluated);
  void state(nn::StateList& list);

 private:
  EarlyStopConfig config_;
  double best_ = -1;  ///< negative: none seen yet
  std::int64_t since_best_ = 0;
};

}  // namespace sagips::train
