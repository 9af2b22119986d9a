#pragma once
#include <string>

#include "sagips/data/torch.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/env/samplers/grid.hpp"

namespace sagips::workloads::resonance {

/// Di-muon mass spectrum around a resonance over a falling background.
///
/// Signal m^2 / ((m^2 - M^2)^2 + M^2 W^2), convolved with N(0, resolution) over an unbounded range,
/// then normalised in the window; background exp(-slope (m - m_low)) normalised in the window;
/// fraction = the signal's share.
///
/// The convolution is a sum over t = -6, -5.25, ..., 6 in units of the resolution. The resonance's
/// pole lies W / (2 resolution) above the real axis and adds 2 exp(-2 pi W / (2 resolution) / 0.75)
/// to such a sum; that excess is known in closed form and taken off. What stays is the cut at 6
/// resolutions: below 1e-6 of the density for every width and resolution in their ranges.
///
/// shape:   parameters [samples, 5] in the order mass, width, resolution, fraction, slope ->
///          [samples, 1, points]
/// units:   GeV, slope 1/GeV, fraction none
/// cost:    17 evaluations of the signal a point and sample
/// source:  docs/physics/resonance.md
class LineShape {
 public:
  explicit LineShape(env::Grid window) : window_(window) {}

  torch::Tensor table(const torch::Tensor& parameters) const;
  torch::Tensor operator()(torch::Tensor parameters, env::Noise&) const {
    return table(parameters);
  }
  std::string name() const { return "line_shape"; }

 private:
  env::Grid window_;
};

}  // namespace sagips::workloads::resonance
