#include "sagips/analysis/figures/observable.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

using Style = Series::Style;

void check(const Histogram& data, const Histogram& model) {
  const bool same = data.bins() == model.bins() && data.edge(0) == model.edge(0) &&
                    data.edge(data.bins()) == model.edge(model.bins());
  if (!same)
    throw core::Error("figure: data and model have different bins. Use one range and bin count.");
  if (!(model.total() > 0))
    throw core::Error("figure: the model histogram is empty. Fill it with synthetic events.");
}

Series data_points(const Histogram& data) {
  Series points{.label = "data", .style = Style::points, .colour = Colour::black};
  for (std::size_t i = 0; i < data.bins(); ++i) {
    points.x.push_back(data.centre(i));
    points.y.push_back(data.content(i));
    points.y_low.push_back(data.content(i) - data.error(i));
    points.y_high.push_back(data.content(i) + data.error(i));
  }
  return points;
}

Series model_steps(const Histogram& model) {
  Series steps{.label = "model", .style = Style::steps, .colour = Colour::vermillion};
  for (std::size_t i = 0; i <= model.bins(); ++i) {
    steps.x.push_back(model.edge(i));
    steps.y.push_back(model.content(std::min(i, model.bins() - 1)));
  }
  return steps;
}

/// Relative error of the model around 1, with the corners of a histogram.
Series model_band(const Histogram& model) {
  Series band{.style = Style::band, .colour = Colour::vermillion};
  for (std::size_t i = 0; i < model.bins(); ++i)
    for (const double x : {model.edge(i), model.edge(i + 1)}) {
      const double error = model.error(i) / model.content(i);  // NaN in an empty bin: a gap
      band.x.push_back(x);
      band.y_low.push_back(1 - error);
      band.y_high.push_back(1 + error);
    }
  return band;
}

Series ratio_points(const Histogram& data, const Histogram& model) {
  Series points{.style = Style::points, .colour = Colour::black};
  for (std::size_t i = 0; i < data.bins(); ++i) {
    const double expected =
        model.content(i) > 0 ? model.content(i) : std::numeric_limits<double>::quiet_NaN();
    const double ratio = data.content(i) / expected, error = data.error(i) / expected;
    points.x.push_back(data.centre(i));
    points.y.push_back(ratio);
    points.y_low.push_back(ratio - error);
    points.y_high.push_back(ratio + error);
  }
  return points;
}

/// Half height of a ratio axis around 1 that shows all points, but never more than 0 .. 2.
double half_height(const Series& ratio) {
  double largest = 0.05;
  for (std::size_t i = 0; i < ratio.y.size(); ++i)
    for (const double end : {ratio.y_low[i], ratio.y_high[i]})
      if (std::isfinite(end)) largest = std::max(largest, 1.1 * std::abs(end - 1));
  return std::min(largest, 1.0);
}

}  // namespace

Figure observable_with_ratio(const Histogram& data, const Histogram& model,
                             const std::string& label, const std::string& unit) {
  check(data, model);
  const Histogram expected = model.scaled(data.total() / model.total());
  double bin = data.width();
  core::parse_number(core::significant(bin, 3), bin);  // 0.5, not 0.49999999999999994
  Panel counts;
  counts.relative_height = 3;
  counts.x.lowest = data.edge(0);
  counts.x.highest = data.edge(data.bins());
  counts.y.label = core::text("events / ", core::round_trip(bin), unit.empty() ? "" : " ", unit);
  counts.y.lowest = 0;
  counts.series = {model_steps(expected), data_points(data)};
  Panel ratio;
  ratio.x = counts.x;
  ratio.x.label = unit.empty() ? label : core::text(label, " [", unit, "]");
  ratio.y.label = "data / model";
  ratio.series = {model_band(expected), ratio_points(data, expected)};
  ratio.horizontal_lines = {1};
  const double half = half_height(ratio.series.back());
  ratio.y.lowest = 1 - half;
  ratio.y.highest = 1 + half;
  return {.panels = {counts, ratio}, .shared_x = true, .width = 800, .height = 650};
}

}  // namespace sagips::analysis
