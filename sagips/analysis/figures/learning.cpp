#include "sagips/analysis/figures/learning.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/analysis/figures/correlations.hpp"
#include "sagips/analysis/figures/observable.hpp"
#include "sagips/analysis/figures/time_axis.hpp"
#include "sagips/analysis/histogram.hpp"
#include "sagips/analysis/lookup.hpp"
#include "sagips/analysis/statistics.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

constexpr std::size_t bins = 40;
constexpr double widths_shown = 4;  // of a histogram of residuals, on both sides

std::string readable(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

Panel& panel_of(std::vector<Panel>& panels, const std::string& name) {
  for (Panel& panel : panels)
    if (panel.y.label == name) return panel;
  panels.push_back({.x = {.label = "epoch"}, .y = {.label = name}});
  return panels.back();
}

void add_point(std::vector<Panel>& panels, const record::NamedNumber& number, std::string label,
               Colour colour, double epoch) {
  if (!std::isfinite(number.value)) return;
  const auto slash = number.name.find('/');  // before the name of a class or target
  Panel& panel = panel_of(panels, readable(number.name.substr(0, slash)));
  if (slash != std::string::npos) {
    label = number.name.substr(slash + 1);
    const auto same = [&](const Series& one) { return one.label == label; };
    const auto known = std::find_if(panel.series.begin(), panel.series.end(), same);
    colour = colour_of(static_cast<std::size_t>(known - panel.series.begin()));
  }
  auto series = std::find_if(panel.series.begin(), panel.series.end(),
                             [&](const Series& one) { return one.label == label; });
  if (series == panel.series.end())
    series = panel.series.insert(panel.series.end(), Series{.label = label, .colour = colour});
  series->add(epoch, number.value);
}

Figure in_panels(std::vector<Panel> panels) {
  Figure figure{.panels = std::move(panels)};
  arrange_in_rows(figure, 60);
  return figure;
}

}  // namespace

Figure learning_curves(const std::vector<record::Event>& metrics) {
  std::vector<Panel> panels;
  for (const auto* epoch : events_of<record::EpochDone>(metrics))
    for (const record::NamedNumber& loss : epoch->losses)
      add_point(panels, loss, "batches", Colour::blue, static_cast<double>(epoch->epoch));
  for (const auto* epoch : events_of<record::EpochDone>(metrics))
    for (const record::NamedNumber& rate : epoch->learning_rates)
      add_point(panels, {"learning_rate/" + rate.name, rate.value}, "", Colour::blue,
                static_cast<double>(epoch->epoch));
  for (const auto* evaluated : events_of<record::Evaluated>(metrics))
    for (const record::NamedNumber& metric : evaluated->distances)
      add_point(panels, metric, "rows kept aside", Colour::vermillion,
                static_cast<double>(evaluated->epoch));
  if (panels.empty()) return {.panels = {{.title = "no evaluation in this run"}}};
  return in_panels(std::move(panels));
}

Figure confusion_matrix(const std::vector<double>& shares,
                        const std::vector<std::string>& classes) {
  Figure figure = matrix_squares("shares of each true class", classes, shares);
  figure.panels.front().x.label = "taken for";
  figure.panels.front().y.label = "is";
  return figure;
}

Figure roc_curves(const std::vector<RocCurve>& curves) {
  Panel panel{.x = {.label = "share of the others taken for it", .lowest = 0, .highest = 1},
              .y = {.label = "share found", .lowest = 0, .highest = 1}};
  for (const RocCurve& curve : curves) {
    const std::size_t number = panel.series.size();
    panel.series.push_back(
        {.label = curve.label,
         .style = number < curve_colours ? Series::Style::line : Series::Style::dashed,
         .colour = colour_of(number)});
    for (std::size_t i = 0; i < curve.found.size(); ++i)
      panel.series.back().add(curve.wrong[i], curve.found[i]);
  }
  panel.series.push_back(dashed_line("", Colour::grey, {0, 1}, {0, 1}));
  return {.panels = {panel}, .width = 640, .height = 600};
}

Figure regression_residuals(const std::vector<Regression>& outputs) {
  std::vector<Panel> panels;
  for (const Regression& output : outputs) {
    std::vector<double> residuals;
    for (std::size_t i = 0; i < output.found.size(); ++i)
      residuals.push_back(output.found[i] - output.wanted[i]);
    const double middle = mean(residuals), width = standard_deviation(residuals);
    Panel panel{.title = core::text(output.label, ": ", core::significant(middle, 2), " ± ",
                                    core::significant(width, 2)),
                .x = {.label = "found − true"},
                .y = {.label = "rows", .lowest = 0}};
    if (width > 0) {
      Histogram histogram(middle - widths_shown * width, middle + widths_shown * width, bins);
      histogram.fill(residuals);
      panel.series.push_back(outline(histogram, "", Colour::blue));
    } else {
      panel.title += " (all alike)";
    }
    panels.push_back(std::move(panel));
  }
  return in_panels(std::move(panels));
}

Figure predicted_against_true(const std::vector<Regression>& outputs, std::int64_t most) {
  std::vector<Panel> panels;
  for (const Regression& output : outputs) {
    Series points{.style = Series::Style::points, .colour = Colour::blue};
    const std::size_t count = std::min(output.found.size(), static_cast<std::size_t>(most));
    for (std::size_t i = 0; i < count; ++i) points.add(output.wanted[i], output.found[i]);
    const auto [low, high] = std::minmax_element(points.x.begin(), points.x.end());
    Panel panel{.title = output.label, .x = {.label = "true"}, .y = {.label = "found"}};
    const std::vector<double> ends{*low, *high};
    panel.series.push_back(std::move(points));
    panel.series.push_back(dashed_line("", Colour::grey, ends, ends));
    panels.push_back(std::move(panel));
  }
  return in_panels(std::move(panels));
}

}  // namespace sagips::analysis
