#include "sagips/optim/gan/warm_start.hpp"

#include "sagips/optim/estimate.hpp"

namespace sagips::optim {

Solution warm_start(Gan& gan, const env::Environment& environment, const MomentsConfig& config,
                    SolveContext context) {
  context.intervals = false;
  Solution solution = MomentSolver(config).solve(environment, context);
  const env::ParameterSet& parameters = environment.parameters;
  const torch::Tensor physical = torch::tensor(solution.values, torch::kFloat64);
  const torch::Tensor theta = parameters.logit_from_physical(physical);
  gan.begin_at(theta, logit_covariance(parameters, theta, solution.covariance));
  return solution;
}

}  // namespace sagips::optim
