#include "sagips/analysis/convergence/variant.hpp"

#include <algorithm>

#include "sagips/analysis/statistics.hpp"

namespace sagips::analysis {

Measured measured(std::span<const double> numbers) {
  if (numbers.empty()) return {};
  return {mean(numbers), numbers.size() < 2 ? 0 : standard_deviation(numbers)};
}

std::vector<ScalingSeries> scaling_series(const std::vector<ConvergenceVariant>& variants) {
  std::vector<ScalingSeries> all;
  const auto is_scanned = [](const ConvergenceVariant& variant) {
    return variant.outer_every.has_value();
  };
  for (const ConvergenceVariant& variant : variants) {
    if (variant.ranks == 1 || is_scanned(variant)) continue;
    const std::string label =
        variant.divided ? variant.exchange + ", batch divided" : variant.exchange;
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const ScalingSeries& known) { return known.label == label; });
    if (found == all.end()) found = all.insert(all.end(), {label, variant.divided, {}});
    found->points.push_back(&variant);
  }
  for (ScalingSeries& series : all) {
    for (const ConvergenceVariant& variant : variants)
      if (variant.ranks == 1 && !is_scanned(variant)) series.points.push_back(&variant);
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const auto* a, const auto* b) { return a->ranks < b->ranks; });
  }
  std::erase_if(all, [](const ScalingSeries& series) { return series.points.size() < 2; });
  return all;
}

}  // namespace sagips::analysis
