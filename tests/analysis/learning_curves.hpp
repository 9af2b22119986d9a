#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/convergence/variant.hpp"

namespace sagips::testing {

/// What a member of an ensemble predicted at one time. predictions: [rows, parameters]
inline record::Snapshot snapshot(double time_s, std::vector<float> predictions,
                                 std::vector<std::string> parameters = {"a"}) {
  record::Snapshot one;
  one.time_s = time_s;
  one.parameters = std::move(parameters);
  one.predictions = std::move(predictions);
  return one;
}

/// A member whose residual of a truth of 1 runs straight between two values; one noise vector.
inline analysis::MemberLearningCurve straight(double begin_s, double end_s, double first,
                                              double last) {
  return {snapshot(begin_s, {static_cast<float>(1 - first)}),
          snapshot(end_s, {static_cast<float>(1 - last)})};
}

inline analysis::EnsembleLearningCurve learning_curve_of(
    const std::vector<analysis::MemberLearningCurve>& members,
    std::optional<double> floor = std::nullopt) {
  return analysis::ensemble_learning_curve(members, {{"a", 1, floor}}, 11);
}

/// Two members whose residuals fall by half; a floor of 10 %.
inline analysis::ConvergenceVariant variant(const std::string& label, const std::string& exchange,
                                            std::int64_t ranks, double time_s, double rate) {
  analysis::ConvergenceVariant one{.label = label, .exchange = exchange, .ranks = ranks};
  one.curve =
      learning_curve_of({straight(1, time_s, 0.4, 0.2), straight(1, time_s, 0.8, 0.4)}, 0.1);
  one.time_s = {time_s, time_s};
  one.events_per_second = {rate, rate};
  return one;
}

}  // namespace sagips::testing
