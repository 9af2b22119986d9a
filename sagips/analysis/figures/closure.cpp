#include "sagips/analysis/figures/closure.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/analysis/figures/observable.hpp"
#include "sagips/analysis/figures/time_axis.hpp"
#include "sagips/core/error.hpp"

namespace sagips::analysis {
namespace {

using Style = Series::Style;

constexpr double farthest = 4;  // pulls beyond are counted in the outermost bins
constexpr int curve_points = 81;

std::vector<std::string> in_order(const std::vector<ClosureSummary>& summaries,
                                  std::string ClosureSummary::*member) {
  std::vector<std::string> names;
  for (const ClosureSummary& one : summaries)
    if (std::find(names.begin(), names.end(), one.*member) == names.end())
      names.push_back(one.*member);
  return names;
}

Series histogram_of(const ClosureSummary& summary, Colour colour) {
  const auto bins = static_cast<std::size_t>(
      std::clamp(std::sqrt(static_cast<double>(summary.experiments)) * 1.5, 8.0, 40.0));
  Histogram histogram(-farthest, farthest, bins);
  const double inside = farthest * (1 - 1e-9);
  std::vector<double> pulls = summary.pulls;
  for (double& pull : pulls) pull = std::clamp(pull, -inside, inside);
  histogram.fill(pulls);
  const double per_bin =
      static_cast<double>(summary.experiments) * 2 * farthest / static_cast<double>(bins);
  return outline(histogram, summary.errors_from, colour, per_bin);
}

Series normal_curve() {
  Series curve{.label = "N(0, 1)", .style = Style::dashed, .colour = Colour::black};
  for (int i = 0; i < curve_points; ++i) {
    const double x = -farthest + 2 * farthest * i / (curve_points - 1);
    curve.add(x, std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI));
  }
  return curve;
}

}  // namespace

Figure closure_pulls(const std::vector<ClosureSummary>& summaries) {
  const auto kinds = in_order(summaries, &ClosureSummary::errors_from);
  Figure figure;
  for (const std::string& parameter : in_order(summaries, &ClosureSummary::parameter)) {
    Panel panel{.title = parameter,
                .x = {.label = "pull", .lowest = -farthest, .highest = farthest},
                .y = {.label = "probability density", .lowest = 0}};
    for (const ClosureSummary& one : summaries) {
      if (one.parameter != parameter || one.experiments < 2) continue;
      const auto kind = std::find(kinds.begin(), kinds.end(), one.errors_from) - kinds.begin();
      panel.series.push_back(histogram_of(one, colour_of(static_cast<std::size_t>(kind))));
    }
    if (panel.series.empty()) continue;
    panel.series.push_back(normal_curve());
    figure.panels.push_back(std::move(panel));
  }
  if (figure.panels.empty())
    throw core::Error("closure: no parameter has two pulls. Make more experiments.");
  arrange_in_rows(figure, 90);
  return figure;
}

Figure closure_coverage(const std::vector<ClosureSummary>& summaries) {
  const auto parameters = in_order(summaries, &ClosureSummary::parameter);
  const double right = static_cast<double>(parameters.size()) - 0.5;
  Figure figure{.shared_x = true};
  for (const std::string& kind : in_order(summaries, &ClosureSummary::errors_from)) {
    Series points{.style = Style::points, .colour = Colour::blue};
    for (const ClosureSummary& one : summaries) {
      if (one.errors_from != kind || one.experiments < 2) continue;
      const auto place =
          std::find(parameters.begin(), parameters.end(), one.parameter) - parameters.begin();
      points.add(static_cast<double>(place), 100 * one.coverage);
      points.add_ends(100 * (one.coverage - one.coverage_error),
                      100 * (one.coverage + one.coverage_error));
    }
    Panel panel{.title = kind,
                .x = {.lowest = -0.5, .highest = right, .names = parameters},
                .y = {.label = "coverage [%]", .lowest = 0, .highest = 100}};
    panel.series.push_back(dashed_line("expected: 68.3 %", Colour::grey, {-0.5, right},
                                       {100 * normal_coverage, 100 * normal_coverage}));
    panel.series.push_back(std::move(points));
    figure.panels.push_back(std::move(panel));
  }
  figure.width = 800;
  figure.height = 160 + 240 * static_cast<int>(figure.panels.size());
  return figure;
}

}  // namespace sagips::analysis
