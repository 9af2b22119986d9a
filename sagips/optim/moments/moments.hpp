#pragma once
#include "sagips/optim/moments/moments_config.hpp"
#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// Weighted moment matching: finds the parameters at which a pipeline's mean features are those of
/// the data, Q = N/2 (m - d)' W (m - d) with W the inverse covariance of the features in the data.
/// Needs no density, no network and no gradient.
///
/// The data count as 100 events first, then 4 times as many at each level, with a prior around the
/// middle of the ranges until all of them count; Levenberg-Marquardt steps on logits at each level.
/// Every simulation of a level takes the same quasi-random numbers, so Q is a smooth function. A
/// last step averages simulations with other numbers, whose scatter enters the errors. A start that
/// ends far from the data is followed by another.
///
/// Several ranks add up their events and simulations.
///
/// source: generalised method of moments, Hansen, Econometrica 50 (1982) 1029; simulated: McFadden,
///         Econometrica 57 (1989) 995; the recipe and what it reaches: docs/physics/moments.md
/// cost:   13 pipeline calls of 2,048 to 16,384 events a step with 6 parameters, some 25 steps
class MomentSolver final : public Solver {
 public:
  explicit MomentSolver(MomentsConfig config) : config_(config) {}

  Solution solve(const env::Environment& environment, const SolveContext& context) const override;
  /// Errors and chi2 of given parameters (all, physical), found in whatever way: those an estimate
  /// by these moments would have there.
  Solution judge(const env::Environment& environment, const SolveContext& context,
                 const torch::Tensor& physical) const;
  /// chi2 alone, which takes much less. fitted: how many of these parameters moments have chosen
  GoodnessOfFit goodness(const env::Environment& environment, const SolveContext& context,
                         const torch::Tensor& physical, std::int64_t fitted = 0) const;

 private:
  MomentsConfig config_;
};

}  // namespace sagips::optim
