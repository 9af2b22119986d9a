#pragma once
#include <vector>

#include "sagips/analysis/drawing/ticks.hpp"
#include "sagips/analysis/figure.hpp"

namespace sagips::analysis::drawing {

/// Whether a number has a place on the axis.
bool is_drawable(double value, const Axis& axis);

/// How far along the axis a number stands: 0 at its low end, 1 at its high end.
double share_of_axis(const Axis& axis, Interval interval, double value);

/// Both axes of each panel: what it fixes itself, else what its series need, with a little air;
/// x for whole columns together when the figure shares it.
/// throws: Error when a fixed range is empty, or not positive on a logarithmic axis
struct PanelRange {
  Interval x, y;
};
std::vector<PanelRange> panel_ranges(const Figure& figure);

}  // namespace sagips::analysis::drawing
