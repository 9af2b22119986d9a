#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/nn/state.hpp"
#include "sagips/record/event.hpp"

namespace sagips::train {

struct EarlyStopConfig {
  enum class Better { usual, lower, higher };
  enum class Rule { best, means };
  std::string metric = "ks_mean";
  Better better = Better::usual;
  std::int64_t patience = 0;  ///< evaluations; 0: never stop early
  Rule rule = Rule::best;
  double improvement = 0;  ///< relative: no more than this does not count as better
  std::optional<double> target{};
  bool restore = false;  ///< a learning problem ends with the networks of its best evaluation
  void fields(core::FieldList& list);
  bool watches() const { return patience > 0 || target; }
  /// Whether larger values of the metric are better: as said, or as its name is known for.
  bool higher_is_better() const;
};

/// Stops when a metric of the evaluations no longer gets better, or is as good as asked for.
///
/// For inverse problems the metric is the distance between held-out measured events and synthetic
/// ones, the mean of the observables' Kolmogorov-Smirnov distances. Losses are no guide there (they
/// settle before the parameters do, SAGIPS paper Sec. VI) and the truth is unknown.
class EarlyStop {
 public:
  explicit EarlyStop(EarlyStopConfig config) : config_(std::move(config)) {}

  /// The reason to stop, or nothing. throws: as `score`, where anything is asked for
  std::string operator()(const record::Evaluated& evaluated);
  /// The metric, smaller where it is better; nothing where the evaluation measured nothing, or NaN. throws:
  /// ConfigError when it has other metrics, but none of this name
  std::optional<double> score(const record::Evaluated& evaluated) const;
  void state(nn::StateList& list);

 private:
  std::string no_better_best(double value);
  std::string no_better_means(double value);
  double signed_by_better(double value) const {
    return config_.higher_is_better() ? -value : value;
  }

  EarlyStopConfig config_;
  double best_ = 0;
  std::int64_t since_best_ = 0, seen_ = 0;
  std::vector<double> last_;  ///< values of the last 2 patience evaluations
};

}  // namespace sagips::train
