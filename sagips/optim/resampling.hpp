#pragma once
#include <cstdint>
#include <vector>

#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// What repeated solutions scatter by, all parameters in physical units.
struct Resampled {
  std::vector<double> errors;  ///< standard deviations; 0 for fixed parameters
  std::int64_t solutions = 0;  ///< that converged
  std::int64_t failures = 0;
};

/// Solves data drawn again from the data with replacement: the scatter from the data's own
/// fluctuations. Each repetition begins at the solution.
/// source: Efron, Ann. Statist. 7 (1979) 1
Resampled over_bootstraps(const Solver& solver, const env::Environment& environment,
                          const SolveContext& context, const Solution& solution,
                          std::int64_t repetitions);

/// Solves the same data with other seeds: the scatter from the solver's own randomness (simulation,
/// starting points). Each repetition begins at the solver's own choice.
Resampled over_seeds(const Solver& solver, const env::Environment& environment,
                     const SolveContext& context, std::int64_t repetitions);

}  // namespace sagips::optim
