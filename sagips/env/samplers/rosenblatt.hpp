#pragma once
#include <string>

#include "sagips/env/events.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/env/samplers/plane.hpp"

namespace sagips::env {

/// Draws pairs (x, y) from a density tabulated on a plane: x from its marginal, then y given x,
/// each by inverting its survival function.
///
/// Between the points the density is bilinear, so both survival functions are quadratic in a cell
/// and are inverted exactly: events follow PlaneDensity to rounding. An event moves continuously
/// with the parameters, also from cell to cell, so its gradient is the whole derivative at fixed
/// uniform numbers (reparametrisation) and means over events have unbiased gradients.
///
/// shape:  density [samples, x points, y points], not normalised -> [samples, events, 2]
/// noise:  two uniform dimensions
/// cost:   a few sweeps over each table; an event takes log2(y points) steps of a search
/// source: Rosenblatt, Ann. Math. Stat. 23 (1952) 470
class Rosenblatt {
 public:
  explicit Rosenblatt(Plane plane) : plane_(std::move(plane)) {}

  Events operator()(Events density, Noise& noise) const;
  std::string name() const { return "rosenblatt"; }
  const Plane& plane() const { return plane_; }

 private:
  Plane plane_;
};

}  // namespace sagips::env
