#include "sagips/analysis/figures/parameter_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sagips/analysis/figures/observable.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

using Style = Series::Style;

constexpr std::size_t most_points = 1000;
constexpr std::size_t histogram_bins = 30;

/// One parameter's samples and the range that all its panels use.
struct Column {
  std::string name;
  std::optional<double> truth;
  std::vector<double> values;
  double low = 0, high = 1;
};

Column column(std::span<const float> samples, std::size_t index, const std::string& name,
              std::size_t columns, std::optional<double> truth) {
  Column column{name, truth, {}};
  for (std::size_t i = index; i < samples.size(); i += columns) column.values.push_back(samples[i]);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto show = [&](double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  for (const double value : column.values) show(value);
  if (truth) show(*truth);
  if (low > high) return column;
  const double margin = high > low ? 0.05 * (high - low) : std::max(0.05 * std::abs(low), 1e-6);
  column.low = low - margin;
  column.high = high + margin;
  return column;
}

Panel histogram_panel(const Column& column) {
  Histogram histogram(column.low, column.high, histogram_bins);
  histogram.fill(column.values);
  Series filled{.style = Style::band, .colour = Colour::blue};
  double highest = 0;
  for (std::size_t i = 0; i < histogram.bins(); ++i) {
    const double content = histogram.content(i);
    highest = std::max(highest, content);
    filled.x.insert(filled.x.end(), {histogram.edge(i), histogram.edge(i + 1)});
    filled.y_low.insert(filled.y_low.end(), 2, 0);
    filled.y_high.insert(filled.y_high.end(), 2, content);
  }
  Panel panel{.y = {.lowest = 0, .tick_labels = false},
              .series = {filled, outline(histogram, "", Colour::blue)}};
  if (column.truth)
    panel.series.push_back(
        dashed_line("true", Colour::vermillion, {*column.truth, *column.truth}, {0, highest}));
  return panel;
}

Panel pair_panel(const Column& across, const Column& up, bool is_leftmost) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(most_points, across.values.size()));
  Series points{.style = Style::points,
                .x = {across.values.begin(), across.values.begin() + shown},
                .y = {up.values.begin(), up.values.begin() + shown},
                .colour = Colour::blue};
  Panel panel{.y = {.lowest = up.low, .highest = up.high, .tick_labels = is_leftmost},
              .series = {points}};
  if (is_leftmost) panel.y.label = up.name;
  if (across.truth)
    panel.series.push_back(
        dashed_line("true", Colour::vermillion, {*across.truth, *across.truth}, {up.low, up.high}));
  if (up.truth)
    panel.series.push_back(
        dashed_line("", Colour::vermillion, {across.low, across.high}, {*up.truth, *up.truth}));
  return panel;
}

}  // namespace

Figure parameter_pairs(std::span<const float> samples, const std::vector<std::string>& names,
                       const std::vector<std::optional<double>>& truth) {
  const std::size_t count = names.size();
  if (count == 0 || truth.size() != count || samples.size() % count != 0)
    throw core::Error(core::text("figure: ", samples.size(), " numbers, ", count, " names and ",
                                 truth.size(),
                                 " truths do not fit. Pass full rows, one entry a "
                                 "name."));
  std::vector<Column> columns;
  for (std::size_t i = 0; i < count; ++i)
    columns.push_back(column(samples, i, names[i], count, truth[i]));
  const int size = 160 + 150 * static_cast<int>(count);
  Figure figure{
      .columns = static_cast<int>(count), .shared_x = true, .width = size, .height = size};
  for (std::size_t row = 0; row < count; ++row)
    for (std::size_t i = 0; i < count; ++i) {
      Panel panel;
      if (i < row) panel = pair_panel(columns[i], columns[row], i == 0);
      if (i == row) panel = histogram_panel(columns[i]);
      panel.x = {.label = names[i], .lowest = columns[i].low, .highest = columns[i].high};
      figure.panels.push_back(std::move(panel));
    }
  return figure;
}

}  // namespace sagips::analysis
