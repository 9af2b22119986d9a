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

/// Each bin's content and error, divided by that bin's unit.
template <class Unit>
Series data_points(const Histogram& data, const std::string& label, const Unit& unit) {
  Series points{.label = label, .style = Style::points, .colour = Colour::black};
  for (std::size_t i = 0; i < data.bins(); ++i) {
    const double content = data.content(i) / unit(i), error = data.error(i) / unit(i);
    points.add(data.centre(i), content);
    points.add_ends(content - error, content + error);
  }
  return points;
}

/// Relative error of the model around 1, with the corners of a histogram.
Series model_band(const Histogram& model) {
  Series band{.style = Style::band, .colour = Colour::vermillion};
  for (std::size_t i = 0; i < model.bins(); ++i)
    for (const double x : {model.edge(i), model.edge(i + 1)}) {
      const double error = model.error(i) / model.content(i);  // NaN in an empty bin: a gap
      band.x.push_back(x);
      band.add_ends(1 - error, 1 + error);
    }
  return band;
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

Series outline(const Histogram& histogram, const std::string& label, Colour colour, double unit) {
  Series steps{.label = label, .style = Style::steps, .colour = colour};
  for (std::size_t i = 0; i <= histogram.bins(); ++i)
    steps.add(histogram.edge(i), histogram.content(std::min(i, histogram.bins() - 1)) / unit);
  return steps;
}

Figure observable_with_ratio(const Histogram& data, const Histogram& model,
                             const std::string& label, const std::string& unit) {
  check(data, model);
  const Histogram expected = model.scaled(data.total() / model.total());
  double bin = data.width();
  core::parse_number(core::significant(bin, 3), bin);  // 0.5, not 0.49999999999999994
  const auto content_or_gap = [&](std::size_t i) {
    return expected.content(i) > 0 ? expected.content(i) : std::numeric_limits<double>::quiet_NaN();
  };
  const Panel counts{
      .x = {.lowest = data.edge(0), .highest = data.edge(data.bins())},
      .y = {.label = core::text("events / ", core::round_trip(bin), unit.empty() ? "" : " ", unit),
            .lowest = 0},
      .series = {outline(expected, "model", Colour::vermillion),
                 data_points(data, "data", [](std::size_t) { return 1.0; })},
      .relative_height = 3};
  Panel ratio{.x = counts.x,
              .y = {.label = "data / model"},
              .series = {model_band(expected), data_points(data, "", content_or_gap)},
              .horizontal_lines = {1}};
  ratio.x.label = unit.empty() ? label : core::text(label, " [", unit, "]");
  const double half = half_height(ratio.series.back());
  ratio.y.lowest = 1 - half;
  ratio.y.highest = 1 + half;
  return {.panels = {counts, ratio}, .shared_x = true, .width = 800, .height = 650};
}

}  // namespace sagips::analysis
