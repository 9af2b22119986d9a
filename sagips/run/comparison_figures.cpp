#include "sagips/run/comparison_figures.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sagips/analysis/figures/correlations.hpp"
#include "sagips/core/text.hpp"

namespace sagips::run {

namespace {

using analysis::Colour;
using analysis::Panel;
using analysis::Series;
using problem::ComparedCurve;

constexpr std::size_t panels_in_row = 3;

bool is_histogram(const ComparedCurve& curve) { return curve.x.size() > curve.real.size(); }

double place(const ComparedCurve& curve, std::size_t i) {
  return is_histogram(curve) ? (curve.x[i] + curve.x[i + 1]) / 2 : curve.x[i];
}

Series real_points(const ComparedCurve& curve) {
  Series points{.label = "real", .style = Series::Style::points, .colour = Colour::black};
  for (std::size_t i = 0; i < curve.real.size(); ++i) {
    points.add(place(curve, i), curve.real[i]);
    points.add_ends(curve.real[i] - curve.real_errors[i], curve.real[i] + curve.real_errors[i]);
  }
  return points;
}

// The band of a histogram's errors would need its corners.
std::vector<Series> made_series(const ComparedCurve& curve) {
  Series line{.x = curve.x, .y = curve.made, .colour = Colour::vermillion};
  if (is_histogram(curve)) {
    line.label = "made";
    line.style = Series::Style::steps;
    line.y.push_back(line.y.back());
    return {line};
  }
  Series band{.style = Series::Style::band, .x = curve.x, .colour = Colour::vermillion};
  for (std::size_t i = 0; i < curve.made.size(); ++i)
    band.add_ends(curve.made[i] - curve.made_errors[i], curve.made[i] + curve.made_errors[i]);
  Series points = line;  // of a value without a neighbour they are all that is seen
  points.label = "made";
  points.style = Series::Style::points;
  points.y_low = band.y_low;
  points.y_high = band.y_high;
  return {band, line, points};
}

Panel panel_of(const ComparedCurve& curve) {
  Panel panel{.title = curve.title,
              .x = {.label = curve.x_label},
              .y = {.label = curve.y_label, .logarithmic = curve.is_logarithmic},
              .series = made_series(curve)};
  panel.series.push_back(real_points(curve));
  return panel;
}

Panel ratio_of(const ComparedCurve& curve) {
  Series points{.style = Series::Style::points, .colour = Colour::vermillion};
  double half = 0.1;
  for (std::size_t i = 0; i < curve.real.size(); ++i) {
    const double ratio = curve.made[i] / curve.real[i];  // not finite: a gap
    points.add(place(curve, i), ratio);
    const double error = std::hypot(curve.made_errors[i] / curve.real[i],
                                    ratio * curve.real_errors[i] / curve.real[i]);
    points.add_ends(ratio - error, ratio + error);
    if (std::isfinite(ratio + error)) half = std::max(half, std::abs(ratio - 1) + error);
  }
  half = std::min(half, 1.0);
  return {.x = {.label = curve.x_label},
          .y = {.label = "made / real", .lowest = 1 - half, .highest = 1 + half},
          .series = {std::move(points)},
          .horizontal_lines = {1},
          .relative_height = 0.4};
}

analysis::Figure figure_of(const std::vector<const ComparedCurve*>& curves) {
  const std::size_t columns = std::min(panels_in_row, curves.size());
  const std::size_t rows = (curves.size() + columns - 1) / columns;
  analysis::Figure figure{.columns = static_cast<int>(columns),
                          .width = static_cast<int>(60 + 400 * columns),
                          .height = static_cast<int>(60 + 340 * rows)};
  for (const ComparedCurve* curve : curves) figure.panels.push_back(panel_of(*curve));
  if (rows > 1) return figure;
  figure.shared_x = true;
  figure.height += 120;
  for (const ComparedCurve* curve : curves) figure.panels.push_back(ratio_of(*curve));
  return figure;
}

// One picture of both: their squares are the same but for the diagonal.
analysis::Figure figure_of(const problem::ComparedMatrix& matrix) {
  std::vector<double> values = matrix.real;
  const std::size_t count = matrix.names.size();
  for (std::size_t row = 0; row < count; ++row)
    for (std::size_t column = row + 1; column < count; ++column)
      values[row * count + column] = matrix.made[row * count + column];
  return analysis::matrix_squares("correlations: real below the diagonal, made above it",
                                  matrix.names, values);
}

}  // namespace

void draw_comparison(FigureWriter& draw, const problem::ExampleComparison& comparison) {
  const std::vector<ComparedCurve> curves = comparison.curves();
  std::vector<std::string> names;
  for (const ComparedCurve& curve : curves)
    if (std::find(names.begin(), names.end(), curve.figure) == names.end())
      names.push_back(curve.figure);
  for (const std::string& name : names) {
    std::vector<const ComparedCurve*> panels;
    for (const ComparedCurve& curve : curves)
      if (curve.figure == name) panels.push_back(&curve);
    draw(figure_of(panels), "compared_" + name);
  }
  for (const problem::ComparedMatrix& matrix : comparison.matrices())
    draw(figure_of(matrix), "compared_" + matrix.figure);
}

}  // namespace sagips::run
