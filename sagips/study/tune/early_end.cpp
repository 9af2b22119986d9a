#include "sagips/study/tune/early_end.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/analysis/statistics.hpp"
#include "sagips/core/text.hpp"

namespace sagips::study {

namespace {

using Trials = std::map<std::int64_t, record::TrialRecord>;

std::optional<double> score_at(const TrialLearningCurve& curve, double epochs) {
  for (const TrialLearningCurve::Place& place : curve.places)
    if (place.epochs >= epochs) return place.score;
  return {};
}

std::int64_t bracket_of(std::int64_t trial, const EarlyEndConfig& config) {
  return config.rule == EarlyEndConfig::Rule::brackets ? trial % config.brackets : 0;
}

// The last look that this report is the first to pass; 0: none.
double look_between(double before, double now, double first, double factor) {
  double look = 0, at = first;
  while (at <= now) {
    if (at > before) look = at;
    at *= factor;
  }
  return look;
}

std::string halved(std::int64_t trial, const TrialLearningCurve& own, const Trials& trials,
                   const TuneConfig& config) {
  const EarlyEndConfig& rule = config.early_end;
  const std::size_t n = own.places.size();
  const double before = n > 1 ? own.places[n - 2].epochs : 0;
  const auto factor = static_cast<double>(rule.factor);
  const double first = rule.first * std::pow(factor, static_cast<double>(bracket_of(trial, rule)));
  const double look = look_between(before, own.places.back().epochs, first, factor);
  if (look == 0) return {};
  const double score = own.places.back().score;
  std::size_t all = 1, better = 0;
  for (const auto& [number, other] : trials) {
    if (number == trial || bracket_of(number, rule) != bracket_of(trial, rule)) continue;
    const auto found = score_at(learning_curve_of(other, config), look);
    if (!found) continue;
    ++all;
    better += *found < score ? 1 : 0;
  }
  const std::size_t go_on = std::max<std::size_t>(1, all / static_cast<std::size_t>(rule.factor));
  if (better < go_on) return {};
  return core::text("is number ", better + 1, " of ", all, " after ", look, " epochs");
}

std::string worse_than_median(std::int64_t trial, const TrialLearningCurve& own,
                              const Trials& trials, const TuneConfig& config) {
  const double epochs = own.places.back().epochs;
  if (epochs < config.early_end.first) return {};
  double best = own.places.front().score;
  for (const TrialLearningCurve::Place& place : own.places) best = std::min(best, place.score);
  std::vector<double> others;
  for (const auto& [number, other] : trials)
    if (number != trial)
      if (const auto found = score_at(learning_curve_of(other, config), epochs))
        others.push_back(*found);
  if (others.size() < static_cast<std::size_t>(config.early_end.trials)) return {};
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::nth_element(others.begin(), middle, others.end());
  if (best <= *middle) return {};
  return core::text("is worse than the median of ", others.size(), " others after ", epochs,
                    " epochs");
}

// Up to the report that came last.
TrialLearningCurve own_learning_curve(const record::TrialRecord& trial, const TuneConfig& config) {
  TrialLearningCurve own = learning_curve_of(trial, config);
  const record::TrialReport& now = trial.reports.back();
  while (!own.places.empty() && own.places.back().fold == now.fold &&
         own.places.back().epochs_of_fold > now.epochs)
    own.places.pop_back();
  return own;
}

}  // namespace

bool is_over(const record::TrialRecord& trial, std::int64_t training) {
  return std::any_of(trial.reports.begin(), trial.reports.end(),
                     [&](const auto& report) { return report.fold == training && report.last; });
}

TrialLearningCurve learning_curve_of(const record::TrialRecord& trial, const TuneConfig& config) {
  TrialLearningCurve curve;
  double epochs_before = 0, sum = 0;
  std::int64_t folds = 0;
  for (const record::TrialReport& report : trial.reports) {
    if (report.fold != folds + 1) continue;  // once more after a restart
    const double epochs = epochs_before + report.epochs;
    const double score = config.score((sum + report.value) / static_cast<double>(folds + 1));
    if (curve.places.empty() || epochs > curve.places.back().epochs)
      curve.places.push_back(
          {epochs, std::isfinite(score) ? score : HUGE_VAL, report.fold, report.epochs});
    if (!report.last) continue;
    ++folds;
    sum += report.value;
    epochs_before = epochs;
  }
  return curve;
}

std::optional<FoldSummary> summary_of(const record::TrialRecord& trial) {
  if (trial.reports.empty()) return {};
  FoldSummary summary;
  std::vector<double> values;
  const record::TrialReport* under_way = nullptr;
  for (const record::TrialReport& report : trial.reports) {
    if (report.fold != summary.folds + 1) continue;
    under_way = &report;
    if (!report.last) continue;
    ++summary.folds;
    values.push_back(report.value);
    summary.epochs += report.epochs;
    summary.time_s += report.time_s;
    under_way = nullptr;
  }
  if (under_way != nullptr) {
    values.push_back(under_way->value);
    summary.epochs += under_way->epochs;
  }
  summary.mean = analysis::mean(values);
  summary.spread = values.size() > 1 ? analysis::standard_deviation(values) : 0;
  return summary;
}

std::string early_end(std::int64_t trial, const Trials& trials, const TuneConfig& config) {
  using Rule = EarlyEndConfig::Rule;
  if (config.early_end.rule == Rule::none || trials.at(trial).reports.empty()) return {};
  const TrialLearningCurve own = own_learning_curve(trials.at(trial), config);
  if (own.places.empty()) return {};
  if (!std::isfinite(own.places.back().score)) return "is not finite";
  return config.early_end.rule == Rule::median ? worse_than_median(trial, own, trials, config)
                                               : halved(trial, own, trials, config);
}

}  // namespace sagips::study
