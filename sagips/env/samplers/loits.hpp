#pragma once
#include <string>

#include "sagips/env/events.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/env/samplers/plane.hpp"

namespace sagips::env {

/// Local orthogonal inverse transform sampling of pairs (x, y) from a density tabulated on a plane.
///
/// Each cell gets its share of the events by its mass (mean of four corners times its area).
/// Inside, x and y are drawn apart: the density, integrated over the cell along the other axis by
/// the trapezoid rule, is linear; its cumulated values at ten points are inverted by linear
/// interpolation. Events follow the density to second order in the cells' size.
///
/// The gradient is biased: how many events a cell gets carries none, so that a gradient knows of
/// shifts within the cells alone, and vanishes with their size. Use Rosenblatt where gradients
/// matter; this one is for comparison with the authors' results.
///
/// counts, multinomial: each event draws its cell. truncated: a cell gets its expected number
/// rounded down; the events that are left over do not exist (mask). Needs more events than cells.
///
/// shape:  density [samples, x points, y points], not normalised -> [samples, events, 2]
/// noise:  three uniform dimensions, or two when truncated
/// source: the authors' later tool kit (Braga et al., arXiv 2507.15768)
class Loits {
 public:
  enum class Counts { multinomial, truncated };

  Loits(Plane plane, Counts counts) : plane_(std::move(plane)), counts_(counts) {}

  Events operator()(Events density, Noise& noise) const;
  std::string name() const { return "loits"; }

 private:
  /// Cell of each event, and whether there is such an event (undefined: all are).
  struct Choice {
    torch::Tensor cell, exists;
  };
  Choice choose(const torch::Tensor& table, Noise& noise) const;

  Plane plane_;
  Counts counts_;
};

}  // namespace sagips::env
