#include "sagips/analysis/closure.hpp"

#include <cmath>

#include "sagips/analysis/statistics.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

// Standard error of a standard deviation, from the numbers' own fourth moment. A few numbers do not
// know that: for these as if they were normal.
double error_of_width(std::span<const double> values, double centre, double width) {
  constexpr double few = 30;
  const auto n = static_cast<double>(values.size());
  if (n < few) return width / std::sqrt(2 * (n - 1));
  double fourth = 0;
  for (const double value : values) fourth += std::pow(value - centre, 4) / n;
  const double variance = (fourth - std::pow(width, 4)) / n;
  return variance > 0 && width > 0 ? std::sqrt(variance) / (2 * width) : 0;
}

double wilson_half_width(double share, double n) {
  return std::sqrt(share * (1 - share) / n + 1 / (4 * n * n)) / (1 + 1 / n);
}

}  // namespace

ClosureSummary summarise_closure(const std::string& parameter, const std::string& errors_from,
                                 double truth, std::span<const Estimate> estimates) {
  ClosureSummary summary;
  summary.parameter = parameter;
  summary.errors_from = errors_from;
  double inside = 0;
  for (const Estimate& estimate : estimates) {
    const double pull = (estimate.value - truth) / estimate.error;
    if (!(estimate.error > 0) || !std::isfinite(estimate.error) || !std::isfinite(pull)) {
      ++summary.unusable;
      continue;
    }
    summary.pulls.push_back(pull);
    inside += std::abs(pull) < 1 ? 1 : 0;
  }
  summary.experiments = summary.pulls.size();
  if (summary.experiments < 2) return summary;
  const auto n = static_cast<double>(summary.experiments);
  summary.mean = mean(summary.pulls);
  summary.width = standard_deviation(summary.pulls);
  summary.mean_error = summary.width / std::sqrt(n);
  summary.width_error = error_of_width(summary.pulls, summary.mean, summary.width);
  summary.coverage = inside / n;
  summary.coverage_error = wilson_half_width(summary.coverage, n);
  return summary;
}

std::string closure_table(const std::vector<ClosureSummary>& summaries) {
  std::vector<std::vector<std::string>> rows;
  for (const ClosureSummary& one : summaries)
    rows.push_back({one.parameter, one.errors_from, core::text(one.experiments),
                    with_error(one.mean, one.mean_error), with_error(one.width, one.width_error),
                    with_error(100 * one.coverage, 100 * one.coverage_error) + " %"});
  rows.push_back({"expected", "", "", "0", "1", "68.3 %"});
  return plain_table({"parameter", "error", "experiments", "pull mean", "pull width", "coverage"},
                     rows);
}

void write_closure_csv(const std::string& path, const std::vector<ClosureSummary>& summaries) {
  std::string content =
      "parameter,errors_from,experiments,without_error,pull_mean,pull_mean_error,pull_width,"
      "pull_width_error,coverage,coverage_error\n";
  for (const ClosureSummary& one : summaries)
    content += core::csv_line(one.parameter, one.errors_from, one.experiments, one.unusable,
                              one.mean, one.mean_error, one.width, one.width_error, one.coverage,
                              one.coverage_error);
  core::write_file(path, content);
}

}  // namespace sagips::analysis
