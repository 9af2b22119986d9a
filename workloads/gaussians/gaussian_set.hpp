#pragma once
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/env/constant.hpp"
#include "sagips/env/densities/density.hpp"
#include "sagips/env/noise/noise.hpp"

namespace sagips::workloads::gaussians {

/// How one data set sees the parameters: its events (x, y) are normal, their mean lies on a line
/// through the origin at `angle`, as far out as the combination of the parameters says.
struct View {
  std::vector<double> combination;  ///< coefficient of each parameter
  double angle = 0;                 ///< of the line [rad]
  double along = 1, across = 0.3;   ///< standard deviations along the line and across it
};

/// Draws the events of one data set.
///
/// shape:  parameters [samples, parameters] -> [samples, events, 2]
/// noise:  two normal dimensions
/// source: the authors' later tool kit; see docs/physics/gaussians.md
class GaussianSet {
 public:
  explicit GaussianSet(View view);

  torch::Tensor operator()(torch::Tensor parameters, env::Noise& noise) const;
  std::string name() const { return "gaussian_set"; }

 private:
  View view_;
  env::Constant combination_;
};

/// Its exact likelihood. An event's part across the line tells nothing of the parameters, so that
/// the positions along it are all that is kept.
class GaussianDensity {
 public:
  using Sample = env::DensitySample;

  /// reach: the farthest that the mean may lie from the origin
  GaussianDensity(View view, double reach);

  Sample sample(const torch::Tensor& values, const torch::Tensor& weights,
                const std::string& origin) const;
  torch::Tensor negative_log_likelihood(const torch::Tensor& parameters,
                                        const Sample& sample) const;
  /// Probabilities of cells along the line, a twentieth of a standard deviation wide: an event
  /// loses 1e-4 of its information.
  torch::Tensor probabilities(const torch::Tensor& parameters) const;

 private:
  torch::Tensor mean(const torch::Tensor& parameters) const;

  View view_;
  torch::Tensor combination_, edges_;
};

}  // namespace sagips::workloads::gaussians
