#pragma once
#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// The maximum-likelihood fit as a solver.
/// throws: ConfigError for several ranks (each would fit its own share)
class LikelihoodSolver final : public Solver {
 public:
  explicit LikelihoodSolver(FitConfig config) : config_(config) {}
  Solution solve(const env::Environment& environment, const SolveContext& context) const override;

 private:
  FitConfig config_;
};

}  // namespace sagips::optim
