#pragma once
#include "sagips/optim/moments/moment_model.hpp"

namespace sagips::optim {

/// The slopes of residuals at a point, and what the noise of the simulation does to them.
///
/// Noise in a slope passes for information: the square of a noisy number is larger than that of its
/// mean. Where a simulator makes discrete choices (a kind of event, a cut), a short step turns few
/// events over, and what it measures is mostly noise.
struct MomentSlopes {
  torch::Tensor jacobian;     ///< d residuals / d unit, mean of simulations. [residuals, free]
  torch::Tensor information;  ///< jacobian' jacobian less what noise adds to it. [free, free]
  torch::Tensor noise;        ///< what it adds, expected. [free, free]
  double doubt = 0;           ///< share of a variance that noise and the steps' length may falsify
  torch::Tensor steps;        ///< of the differences, on the unit scale, one a row. [free, free]
  std::int64_t repetitions = 0;  ///< simulations
};

/// Differences of repeated simulations with other random numbers. Where slopes are mostly noise, steps go
/// along the axes of the errors' ellipsoid, an error long: along a valley of correlated parameters far, where
/// little changes, and across it no farther than chi2 is a parabola. A step is made four times as long where
/// that is not enough, and four times as short where slopes of both lengths differ by more than noise; then
/// simulations are repeated up to 64 times.
/// source: bias h^2 f^(3) / 6 of central differences, so that of length 4 h is 16 times that of h
/// cost:   6 times 2 n points where 4 simulations suffice; n: free parameters
/// shape:  unit [free]
MomentSlopes slopes_at(const MomentModel& model, const torch::Tensor& unit, std::int64_t events);

/// The same with steps and repetitions that were found before, for a model of other features.
MomentSlopes slopes_like(const MomentSlopes& found, const MomentModel& model,
                         const torch::Tensor& unit, std::int64_t events);

/// Squared errors on the unit scale that information leaves, with the range itself as the least that is
/// known. shape: [free, free] -> [free]
torch::Tensor variances_left(const torch::Tensor& information);

}  // namespace sagips::optim
