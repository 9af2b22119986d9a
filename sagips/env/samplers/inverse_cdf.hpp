#pragma once
#include <string>
#include <vector>

#include "sagips/env/constant.hpp"
#include "sagips/env/events.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/env/samplers/grid.hpp"

namespace sagips::env {

/// Draws independent observables from tabulated densities by inverting their survival functions.
///
/// The table S(x_i) = sum_{j >= i} m_j / sum_j m_j runs from the right, where densities are small
/// and float32 would lose them in a sum from the left. Between points x is linear in S. The
/// gradient flows through S into the densities; the uniform numbers and the chosen cell are
/// constants, so that dx/dp = (dS/dp) / pdf(x) in the limit of small cells. On a CPU in float32
/// kernels::draw_positions does it in one sweep over each table; LibTorch does the rest, and second
/// derivatives.
///
/// shape:  densities [samples, observables, points], not normalised -> [samples, events,
///         observables]
/// noise:  one uniform dimension an observable
/// source: the authors' tool kit (authors' recipe: grid rule `left`, coverage 0.9999)
class InverseCdf {
 public:
  struct Config {
    Grid grid;
    double coverage = 1;  ///< uniform numbers are multiplied by this
    std::vector<std::string>
        norm_names;  ///< one an observable: its integral becomes a per-sample number; empty: none
    bool fused = true;  ///< false: LibTorch's operations everywhere, the kernels' reference
  };
  explicit InverseCdf(Config config)
      : config_(std::move(config)), weights_(config_.grid.weights(torch::kFloat64)) {}

  Events operator()(Events densities, Noise& noise) const;
  std::string name() const { return "inverse_cdf"; }
  const Config& config() const { return config_; }

 private:
  Config config_;
  Constant weights_;  ///< of the grid's integrals
};

}  // namespace sagips::env
