#include "sagips/optim/likelihood/likelihood_solver.hpp"

#include <chrono>

#include "sagips/core/error.hpp"

namespace sagips::optim {

Solution LikelihoodSolver::solve(const env::Environment& environment,
                                 const SolveContext& context) const {
  if (context.place.ranks > 1)
    throw core::ConfigError("solve.method",
                            "likelihood works on one rank. Start one, or use moments.");
  const auto began = std::chrono::steady_clock::now();
  const FitResult fit = fit_maximum_likelihood(environment, config_, context.seed);
  Solution solution;
  solution.values = fit.values;
  solution.errors = fit.errors;
  solution.errors_from = "inverse Hessian of -ln L";
  solution.covariance = fit.covariance;
  solution.score = fit.negative_log_likelihood;
  solution.evaluations = fit.evaluations;
  solution.starts = fit.starts;
  solution.at_limit = fit.at_limit;
  solution.time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (context.observe)
    context.observe({solution.time_s, solution.evaluations, solution.values, solution.score});
  return solution;
}

}  // namespace sagips::optim
