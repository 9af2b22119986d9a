#pragma once
#include <string>

#include <torch/torch.h>

#include "sagips/env/noise.hpp"
#include "sagips/env/samplers/grid.hpp"

namespace sagips::workloads::resonance {

/// Di-muon mass spectrum around a resonance over a falling background.
///
/// Signal m^2 / ((m^2 - M^2)^2 + M^2 W^2), convolved with N(0, resolution) over an unbounded range,
/// then normalised in the window; background exp(-slope (m - m_low)) normalised in the window;
/// fraction = the signal's share.
///
/// The convolution is a sum over t = -6, -5.75, ..., 6 in units of the resolution. Its relative
/// error is about 2 exp(-2 pi d / 0.25) where d = W / (2 resolution): 6e-7 at W = 2.5 GeV and
/// resolution 2 GeV, 5e-3 at 5 GeV, but 10 % at W = 0.5 GeV and resolution 2 GeV.
///
/// shape:  parameters [samples, 5] in the order mass, width, resolution, fraction, slope ->
/// [samples, 1, points] units:  GeV, slope 1/GeV, fraction none source: docs/physics/resonance.md
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
