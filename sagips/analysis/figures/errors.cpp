#include "sagips/analysis/figures/errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sagips/analysis/table.hpp"

namespace sagips::analysis {
namespace {

using record::CorrelationResult;
using record::ParameterResult;
using Style = Series::Style;

constexpr double inner = 0.683, outer = 0.954;
constexpr int curve_points = 120;

/// In units of the errors, of two parameters. source: chi2 of two degrees of freedom
double radius(double probability) { return std::sqrt(-2 * std::log(1 - probability)); }

/// A parameter whose error is known.
struct Measured {
  const ParameterResult* row = nullptr;
  std::size_t place = 0;      ///< among the free parameters
  std::vector<double> other;  ///< its values in other solutions
  double error = 0, low = 0, high = 0;
};

// Where the sides of an interval differ, each quarter reaches as far as its own: the stretched ellipse touches the
// same ends as the profile.
double side_of(const Measured& one, double direction) {
  const std::optional<double>& side = direction < 0 ? one.row->error_below : one.row->error_above;
  return side.value_or(one.error);
}

std::vector<Measured> measured_parameters(const record::Results& results,
                                          const CorrelationResult& errors) {
  std::vector<Measured> all;
  std::size_t place = 0;
  for (std::size_t i = 0; i < results.parameters.size(); ++i) {
    const ParameterResult& row = results.parameters[i];
    if (row.fixed) continue;
    const double variance = errors.covariance[place * (errors.names.size() + 1)];
    Measured one{.row = &row, .place = place++, .other = {}, .error = std::sqrt(variance)};
    if (row.open || !(one.error > 0) || !std::isfinite(one.error)) continue;
    for (const record::OtherSolution& other : results.others) one.other.push_back(other.values[i]);
    std::vector<double> shown = one.other;
    for (const double side : {-1, 1})
      shown.push_back(row.recovered + side * radius(outer) * side_of(one, side));
    if (row.truth) shown.push_back(*row.truth);
    const auto [low, high] = std::minmax_element(shown.begin(), shown.end());
    one.low = *low - 0.05 * (*high - *low);
    one.high = *high + 0.05 * (*high - *low);
    all.push_back(std::move(one));
  }
  return all;
}

double correlation(const CorrelationResult& errors, const Measured& a, const Measured& b) {
  return std::clamp(errors.values[a.place * errors.names.size() + b.place], -1.0, 1.0);
}

Series ellipse(const Measured& x, const Measured& y, double correlation, double probability) {
  Series curve{.colour = probability > inner ? Colour::sky : Colour::blue};
  const double across = std::sqrt(1 - correlation * correlation), r = radius(probability);
  for (int i = 0; i <= curve_points; ++i) {
    const double angle = 2 * M_PI * i / curve_points;
    const double along = std::cos(angle), up = correlation * along + across * std::sin(angle);
    curve.add(x.row->recovered + r * side_of(x, along) * along,
              y.row->recovered + r * side_of(y, up) * up);
  }
  return curve;
}

Panel pair_panel(const Measured& x, const Measured& y, double correlation, bool is_leftmost) {
  Panel panel{.x = {.label = name_text(*x.row), .lowest = x.low, .highest = x.high},
              .y = {.label = name_text(*y.row),
                    .lowest = y.low,
                    .highest = y.high,
                    .tick_labels = is_leftmost}};
  for (const double probability : {inner, outer})
    panel.series.push_back(ellipse(x, y, correlation, probability));
  panel.series[0].label = "68.3 %";
  panel.series[1].label = "95.4 %";
  panel.series.push_back({.label = "recovered",
                          .style = Style::points,
                          .x = {x.row->recovered},
                          .y = {y.row->recovered},
                          .colour = Colour::blue});
  if (!x.other.empty())
    panel.series.push_back({.label = "other solutions",
                            .style = Style::points,
                            .x = x.other,
                            .y = y.other,
                            .colour = Colour::green});
  if (x.row->truth)
    panel.series.push_back(
        dashed_line("true", Colour::vermillion, {*x.row->truth, *x.row->truth}, {y.low, y.high}));
  if (y.row->truth)
    panel.series.push_back(dashed_line(x.row->truth ? "" : "true", Colour::vermillion,
                                       {x.low, x.high}, {*y.row->truth, *y.row->truth}));
  return panel;
}

}  // namespace

std::optional<Figure> error_ellipses(const record::Results& results, std::size_t most) {
  const CorrelationResult* errors = record::errors_of_answer(results);
  if (errors == nullptr) return std::nullopt;
  std::vector<Measured> shown = measured_parameters(results, *errors);
  if (shown.size() > most) shown.resize(most);
  if (shown.size() < 2) return std::nullopt;
  const int side = static_cast<int>(shown.size()) - 1, size = 220 + 180 * side;
  Figure figure{.columns = side, .shared_x = true, .width = size, .height = size};
  for (std::size_t row = 1; row < shown.size(); ++row)
    for (std::size_t i = 0; i + 1 < shown.size(); ++i)
      figure.panels.push_back(
          i < row
              ? pair_panel(shown[i], shown[row], correlation(*errors, shown[i], shown[row]), i == 0)
              : Panel{.x = {.lowest = shown[i].low, .highest = shown[i].high}});
  return figure;
}

std::optional<Figure> deviations(const record::Results& results) {
  Panel panel{.y = {.label = "(recovered − true) / |true| [%]"}, .horizontal_lines = {0}};
  Series floor{.label = "smallest possible error (Cramér-Rao)",
               .style = Style::band,
               .colour = Colour::grey};
  Series points{.label = "recovered", .style = Style::points, .colour = Colour::blue};
  for (const ParameterResult& row : results.parameters) {
    if (row.fixed || row.open || !row.truth || *row.truth == 0) continue;
    const auto at = static_cast<double>(panel.x.names.size());
    const double unit = 100 / std::abs(*row.truth), value = unit * (row.recovered - *row.truth);
    const double error = row.error.value_or(row.fit_error.value_or(0));
    panel.x.names.push_back(row.name);
    points.add(at, value);
    points.add_ends(value - unit * row.error_below.value_or(error),
                    value + unit * row.error_above.value_or(error));
    if (!row.floor) continue;
    for (const double x : {at - 0.35, at + 0.35, std::numeric_limits<double>::quiet_NaN()}) {
      floor.x.push_back(x);  // the last one leaves a gap
      floor.add_ends(-100 * *row.floor, 100 * *row.floor);
    }
  }
  if (points.x.empty()) return std::nullopt;
  panel.x.lowest = -0.5;
  panel.x.highest = static_cast<double>(points.x.size()) - 0.5;
  if (!floor.x.empty()) panel.series.push_back(std::move(floor));
  panel.series.push_back(std::move(points));
  return Figure{.panels = {std::move(panel)}, .width = 800, .height = 500};
}

}  // namespace sagips::analysis
