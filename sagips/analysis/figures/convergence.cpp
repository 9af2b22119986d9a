#include "sagips/analysis/figures/convergence.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/analysis/figures/time_axis.hpp"

namespace sagips::analysis {
namespace {

using Style = Series::Style;

constexpr std::size_t most_bands = 4;  // of one panel; more hide each other

double longest_s(const Shown& variants) {
  double longest = 0;
  for (const ConvergenceVariant* variant : variants)
    longest = std::max(longest, variant->curve.time_s.back());
  return longest;
}

std::vector<double> scaled(std::vector<double> numbers, double factor) {
  for (double& number : numbers) number *= factor;
  return numbers;
}

Series level(std::string label, double y, double begin, double end) {
  return dashed_line(std::move(label), Colour::grey, {begin, end}, {y, y});
}

struct TimeRange {
  double begin = 0, end = 0;
};

TimeRange time_range(const Shown& variants, const TimeUnit& unit) {
  double begin = longest_s(variants);
  for (const ConvergenceVariant* variant : variants)
    begin = std::min(begin, variant->curve.time_s.front());
  return {begin / unit.seconds, longest_s(variants) / unit.seconds};
}

/// A panel for each target. fill: target, panel
template <class Fill>
Figure parameter_panels(const Shown& variants, const Fill& fill) {
  Figure figure{.shared_x = true};
  if (variants.empty()) return {.panels = {{.title = "nothing to compare"}}};
  const auto& targets = variants.front()->curve.targets;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Panel panel{.title = targets[i].name, .x = {.label = time_unit(longest_s(variants)).label()}};
    fill(i, panel);
    figure.panels.push_back(std::move(panel));
  }
  arrange_in_rows(figure, 60);
  return figure;
}

/// A curve of a variant; a point when there is one time only.
Series curve_of(const ConvergenceVariant& variant, std::size_t index, const TimeUnit& unit,
                std::vector<double> y) {
  Series series{.label = variant.label,
                .x = scaled(variant.curve.time_s, 1 / unit.seconds),
                .y = std::move(y),
                .colour = colour_of(index)};
  if (series.x.size() == 1) series.style = Style::points;
  return series;
}

Series spread_band(const Series& line, const std::vector<double>& half_width) {
  Series band{.style = Style::band, .x = line.x, .colour = line.colour};
  for (std::size_t k = 0; k < line.x.size(); ++k)
    band.add_ends(line.y[k] - half_width[k], line.y[k] + half_width[k]);
  return band;
}

/// All parameters together. of: learning curve -> a number a time
Panel distance_panel(const Shown& variants, const std::string& what,
                     std::vector<double> (*of)(const EnsembleLearningCurve&)) {
  const TimeUnit time = time_unit(longest_s(variants));
  const TimeRange range = time_range(variants, time);
  const DistanceUnit unit = distance_unit(variants.front()->curve.targets);
  Panel panel{.x = {.label = time.label()},
              .y = {.label = "rms " + what + " [" + unit.label + "]", .logarithmic = true}};
  if (unit.floor > 0)
    panel.series.push_back(level("Cramér-Rao floor", unit.floor, range.begin, range.end));
  for (std::size_t v = 0; v < variants.size(); ++v)
    panel.series.push_back(
        curve_of(*variants[v], v, time, scaled(of(variants[v]->curve), unit.scale)));
  return panel;
}

/// low, high: how far the marks reach
void mark_stop(const SuggestedStop& stop, const TimeUnit& time, double low, double high,
               Panel& panel) {
  const double at = stop.crossing.time_s / time.seconds;
  if (stop.share > 0)
    panel.series.push_back({.label = "68 % of redrawn ensembles",
                            .style = Style::band,
                            .x = {stop.low_s / time.seconds, stop.high_s / time.seconds},
                            .y_low = {low, low},
                            .y_high = {high, high},
                            .colour = Colour::grey});
  panel.series.push_back(dashed_line("suggested stop", Colour::black, {at, at}, {low, high}));
}

}  // namespace

Figure ensemble_residuals_over_time(const Shown& variants) {
  return parameter_panels(variants, [&](std::size_t i, Panel& panel) {
    const TimeUnit unit = time_unit(longest_s(variants));
    const TimeRange range = time_range(variants, unit);
    panel.y.label = "residual [%]";
    panel.horizontal_lines = {0};
    if (const auto& floor = variants.front()->curve.targets[i].floor) {
      panel.series.push_back(level("± Cramér-Rao floor", 100 * *floor, range.begin, range.end));
      panel.series.push_back(level("", -100 * *floor, range.begin, range.end));
    }
    for (std::size_t v = 0; v < variants.size(); ++v) {
      const EnsembleLearningCurve::TargetCurve& curve = variants[v]->curve.target_curves[i];
      Series line = curve_of(*variants[v], v, unit, scaled(curve.residual, 100));
      if (variants.size() <= most_bands && variants[v]->members() > 1)
        panel.series.push_back(spread_band(line, scaled(curve.spread, 100)));
      panel.series.push_back(std::move(line));
    }
  });
}

Figure ensemble_spread_over_time(const Shown& variants) {
  return parameter_panels(variants, [&](std::size_t i, Panel& panel) {
    const TimeUnit unit = time_unit(longest_s(variants));
    const TimeRange range = time_range(variants, unit);
    panel.y = {.label = "spread over members [%]", .logarithmic = true};
    if (const auto& floor = variants.front()->curve.targets[i].floor)
      panel.series.push_back(level("Cramér-Rao floor", 100 * *floor, range.begin, range.end));
    for (std::size_t v = 0; v < variants.size(); ++v)
      panel.series.push_back(
          curve_of(*variants[v], v, unit, scaled(variants[v]->curve.target_curves[i].spread, 100)));
  });
}

Figure distance_over_time(const Shown& variants, const std::optional<SuggestedStop>& stop) {
  if (variants.empty()) return {.panels = {{.title = "nothing to compare"}}};
  const TimeUnit time = time_unit(longest_s(variants));
  const DistanceUnit unit = distance_unit(variants.front()->curve.targets);
  Panel upper = distance_panel(variants, "residual", distances);
  Panel lower = distance_panel(variants, "spread", spreads);
  if (stop && stop->crossing.meeting == Meeting::crosses) {
    std::vector<double> shown;
    for (const ConvergenceVariant* variant : variants)
      for (const double distance : distances(variant->curve))
        if (distance > 0) shown.push_back(distance * unit.scale);
    const auto [low, high] = std::minmax_element(shown.begin(), shown.end());
    mark_stop(*stop, time, *low, *high, upper);
  }
  return {.panels = {std::move(upper), std::move(lower)},
          .shared_x = true,
          .width = 900,
          .height = 700};
}

}  // namespace sagips::analysis
