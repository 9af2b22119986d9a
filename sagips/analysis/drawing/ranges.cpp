#include "sagips/analysis/drawing/ranges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis::drawing {
namespace {

constexpr double air_over_curves = 0.05;  // share of the axis, at each end
constexpr double air_beside_points = 0.02;
constexpr double too_large = 1e300;  // beyond, the length of an axis would not be finite

/// Grows to hold every drawable number it is shown.
class Extent {
 public:
  explicit Extent(const Axis& axis) : axis_(axis) {}
  void show(double value) {
    if (!is_drawable(value, axis_)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  void show(const std::vector<double>& values) {
    for (const double value : values) show(value);
  }
  bool is_empty() const { return low_ > high_; }

  /// With `air` on both sides; something reasonable for no numbers or only one.
  Interval interval(double air) const {
    if (axis_.logarithmic) {
      const double low = is_empty() ? 0.0 : std::log10(low_),
                   high = is_empty() ? 1.0 : std::log10(high_);
      const double margin = high > low ? air * (high - low) : 0.5;
      return {std::pow(10, low - margin), std::pow(10, high + margin)};
    }
    if (is_empty()) return {0, 1};
    const double least = 1e-9 * std::max(std::abs(low_), std::abs(high_));
    if (high_ - low_ <= least) {
      const double half = low_ == 0 ? 1 : 0.1 * std::abs(low_);
      return {low_ - half, high_ + half};
    }
    const double margin = air * (high_ - low_);
    return {low_ - margin, high_ + margin};
  }

 private:
  const Axis& axis_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

Interval with_fixed_ends(Interval interval, const Axis& axis, const char* name) {
  if (axis.lowest) interval.low = *axis.lowest;
  if (axis.highest) interval.high = *axis.highest;
  // One end is fixed and all numbers lie beyond it: an empty axis, but no reason to fail.
  const bool beyond = interval.low >= interval.high;
  if (beyond && !axis.highest)
    interval.high = axis.logarithmic ? 10 * interval.low : interval.low + 1;
  if (beyond && !axis.lowest)
    interval.low = axis.logarithmic ? interval.high / 10 : interval.high - 1;
  const bool finite = std::abs(interval.low) <= too_large && std::abs(interval.high) <= too_large;
  if (!finite || interval.low >= interval.high || (axis.logarithmic && interval.low <= 0))
    throw core::Error(core::text("figure: ", name, " axis '", axis.label, "' cannot run from ",
                                 interval.low, " to ", interval.high,
                                 axis.logarithmic ? " on a logarithmic scale" : "",
                                 ". Give it another range."));
  return interval;
}

bool lies(const Series& series) {
  return series.style == Series::Style::bars || series.style == Series::Style::segments;
}

Interval y_interval(const Panel& panel) {
  Extent extent(panel.y);
  extent.show(panel.horizontal_lines);
  for (const Series& series : panel.series) {
    if (series.style != Series::Style::band) extent.show(series.y);
    if (lies(series)) continue;
    extent.show(series.y_low);
    extent.show(series.y_high);
  }
  return with_fixed_ends(extent.interval(air_over_curves), panel.y, "y");
}

void show_x(const Panel& panel, Extent& extent, double& air) {
  for (const Series& series : panel.series) {
    extent.show(series.x);
    if (lies(series)) {
      extent.show(0);
      extent.show(series.y_low);
      extent.show(series.y_high);
      air = air_over_curves;
    }
    if (series.style == Series::Style::points) air = air_beside_points;
  }
}

}  // namespace

bool is_drawable(double value, const Axis& axis) {
  return std::abs(value) < too_large && (!axis.logarithmic || value > 0);
}

double share_of_axis(const Axis& axis, Interval interval, double value) {
  if (axis.logarithmic)
    return std::log(value / interval.low) / std::log(interval.high / interval.low);
  return (value - interval.low) / (interval.high - interval.low);
}

std::vector<PanelRange> panel_ranges(const Figure& figure) {
  const auto& panels = figure.panels;
  const auto columns = static_cast<std::size_t>(figure.columns);
  std::vector<PanelRange> ranges;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    Extent extent(panels[i].x);
    double air = 0;
    if (figure.shared_x) {
      for (std::size_t j = i % columns; j < panels.size(); j += columns)
        show_x(panels[j], extent, air);
    } else {
      show_x(panels[i], extent, air);
    }
    ranges.push_back(
        {with_fixed_ends(extent.interval(air), panels[i].x, "x"), y_interval(panels[i])});
  }
  return ranges;
}

}  // namespace sagips::analysis::drawing
