#include "sagips/train/early_stop.hpp"

#include <cmath>
#include <numeric>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::train {

void EarlyStopConfig::fields(core::FieldList& list) {
  list.add(
      "metric", metric,
      "number of the evaluations that is watched: ks_mean, ks_OBSERVABLE, energy, NUMBER_residual; "
      "of a learning problem loss, accuracy, ... (what its evaluations print)");
  list.choice(
      "better", better,
      {{"usual", Better::usual}, {"lower", Better::lower}, {"higher", Better::higher}},
      "which way the metric gets better; usual: higher for accuracies and areas under curves, "
      "lower for all others");
  list.add("patience", patience,
           "evaluations without a better metric before the run stops; 0: never",
           core::Range::at_least(0));
  list.choice("rule", rule, {{"best", Rule::best}, {"means", Rule::means}},
              "better than the best so far, or the mean of the last `patience` evaluations than "
              "the mean of as many before (needs twice as many)");
  list.add("improvement", improvement,
           "share of the best metric by which another must be better to count (rule=best)",
           core::Range::between(0, 1));
  list.add("target", target, "the run stops as soon as the metric is as good as this; null: none");
  list.add(
      "restore", restore,
      "of a learning problem: whatever ends it, its result is the network of the best evaluation "
      "and not that of the last epoch");
  core::needs(list, patience > 0, "patience above 0", {"rule", "improvement"});
  core::needs(list, rule == Rule::best, "rule=best", {"improvement"});
}

bool EarlyStopConfig::higher_is_better() const {
  if (better != Better::usual) return better == Better::higher;
  const std::string own = metric.substr(metric.find('.') + 1);  // behind the name of a head
  return own.ends_with("accuracy") || own.starts_with("area_under_curve") ||
         own.starts_with("efficiency_at_") || own.starts_with("recall/") ||
         own.starts_with("precision/");
}

std::optional<double> EarlyStop::score(const record::Evaluated& evaluated) const {
  for (const auto& distance : evaluated.metrics)
    if (distance.name == config_.metric)  // what is not defined is neither better nor worse
      return std::isnan(distance.value) ? std::nullopt
                                        : std::optional(signed_by_better(distance.value));
  if (evaluated.metrics.empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& distance : evaluated.metrics) names.push_back(distance.name);
  throw core::ConfigError("early_stop.metric",
                          core::text("no evaluation has a '", config_.metric,
                                     "'. There are: ", core::join(names, ", "), "."));
}

std::string EarlyStop::operator()(const record::Evaluated& evaluated) {
  if (!config_.watches()) return {};
  const std::optional<double> found = score(evaluated);
  if (!found) return {};
  const double value = signed_by_better(*found);
  if (config_.target && *found <= signed_by_better(*config_.target))
    return core::text("target reached: ", config_.metric, " is ", core::significant(value, 4));
  if (config_.patience == 0) return {};
  return config_.rule == EarlyStopConfig::Rule::best ? no_better_best(value)
                                                     : no_better_means(value);
}

std::string EarlyStop::no_better_best(double value) {
  const bool higher = config_.higher_is_better();
  const double change = std::abs(best_) * config_.improvement;
  const double threshold = higher ? best_ + change : best_ - change;
  if (seen_++ == 0 || (higher ? value > threshold : value < threshold)) {
    best_ = value;
    since_best_ = 0;
    return {};
  }
  if (++since_best_ < config_.patience) return {};
  std::string reason =
      core::text("early stop: ", config_.metric, " has not ",
                 higher ? "risen above " : "fallen below ", core::significant(threshold, 4),
                 " for ", since_best_, since_best_ == 1 ? " evaluation" : " evaluations");
  if (change > 0)
    reason += core::text(" (the best, ", core::significant(best_, 4),
                         ", and early_stop.improvement=", core::round_trip(config_.improvement),
                         " of it)");
  return reason;
}

std::string EarlyStop::no_better_means(double value) {
  const auto window = static_cast<std::size_t>(config_.patience);
  last_.push_back(value);
  if (last_.size() > 2 * window) last_.erase(last_.begin());
  if (last_.size() < 2 * window) return {};
  const auto middle = last_.begin() + config_.patience;
  const auto share = static_cast<double>(window);
  const double before = std::accumulate(last_.begin(), middle, 0.0) / share;
  const double now = std::accumulate(middle, last_.end(), 0.0) / share;
  if (!(signed_by_better(now) > signed_by_better(before))) return {};
  return core::text("early stop: the mean of the last ", window, " evaluations' ", config_.metric,
                    ", ", core::significant(now, 3), ", is no better than ",
                    core::significant(before, 3), " before");
}

// A run that goes on with another metric has seen none of its values.
void EarlyStop::state(nn::StateList& list) {
  std::string watched = config_.metric;
  list.field("metric", watched);
  list.field("best", best_);
  list.field("since_best", since_best_);
  list.field("seen", seen_);
  list.field("last", last_);
  if (watched == config_.metric) return;
  since_best_ = seen_ = 0;
  last_.clear();
}

}  // namespace sagips::train
