#pragma once
#include "sagips/optim/moments/moment_model.hpp"
#include "sagips/optim/moments/moment_slopes.hpp"
#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// A minimum of the moments, on the unit scale.
struct MomentMinimum {
  torch::Tensor unit;        ///< [free]
  torch::Tensor residuals;   ///< there, mean of simulations. [residuals]
  MomentSlopes slopes;       ///< near it
  torch::Tensor covariance;  ///< that the slopes leave. [free, free]
  std::int64_t events = 0;   ///< simulated at a point
};

/// Intervals and limits from the profile of chi2 for parameters that it is no parabola of: where chi2,
/// an error away on either side, has grown to other than an error by more than 10 %.
/// cost: 2 n points where all are parabolas, and 2 n for each parameter that may vanish; else about 10 times 2 n a
/// side, and 16 for each of these where an open parameter is searched over its range; n: free parameters
/// whole_range: see `add_profile`
void take_profile(Estimate& estimate, const MomentModel& model, const MomentMinimum& minimum,
                  bool whole_range);

/// How far chi2 grows half way to another minimum, where it is least: in the parameter that the two differ in
/// most by their errors.
double growth_half_way(const MomentModel& model, const MomentMinimum& minimum,
                       const torch::Tensor& other);

}  // namespace sagips::optim
