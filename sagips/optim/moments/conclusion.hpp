#pragma once
#include "sagips/optim/moments/moment_model.hpp"
#include "sagips/optim/moments/moment_profile.hpp"
#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// What becomes of a point when values, errors and chi2 are stated.
enum class Conclude {
  moving,  ///< to the minimum of the mean of simulations with other random numbers
  staying  ///< it was found in another way; all residuals count in chi2
};

/// A point with what is stated about it.
struct Concluded : MomentMinimum {
  Solution solution;
  bool settled = true;  ///< false: the last step was longer than an error
};

/// Values, errors, limits, chi2 and doubts at a minimum of the moments, as if chi2 were a parabola;
/// `take_profile` does without.
///
/// Simulations are repeated until their scatter is a quarter of the errors, as far as the config
/// allows, and enters them; so does the chance in the slopes. Steps end at the ends of the ranges.
/// What then makes an error doubtful is in `warnings`.
/// slopes: that the model has at this point, where they are known already
/// shape: unit [free]
Concluded conclude(const MomentModel& model, const torch::Tensor& unit, Conclude how,
                   const MomentSlopes* slopes = nullptr);

/// chi2 of the mean of repeated simulations at a point, without the slopes that errors would need.
/// fitted: parameters that were chosen by these moments
GoodnessOfFit goodness_at(const MomentModel& model, const torch::Tensor& unit, double fitted);

}  // namespace sagips::optim
