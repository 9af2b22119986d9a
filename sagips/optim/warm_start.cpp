#include "sagips/optim/warm_start.hpp"

namespace sagips::optim {

Solution warm_start(Gan& gan, const env::Environment& environment, const MomentsConfig& config,
                    const SolveContext& context) {
  Solution solution = MomentSolver(config).solve(environment, context);
  const env::ParameterSet& parameters = environment.parameters;
  const torch::Tensor physical = torch::tensor(solution.values, torch::kFloat64);
  const torch::Tensor theta = parameters.logit_from_physical(physical);
  // dtheta = dp / (dp / dtheta), dp/dtheta = range g (1 - g)
  const torch::Tensor unit = parameters.unit_from_physical(physical);
  std::vector<double> ranges;
  for (const std::size_t i : parameters.free())
    ranges.push_back(parameters.all()[i].high - parameters.all()[i].low);
  const torch::Tensor slope = torch::tensor(ranges, torch::kFloat64) * unit * (1 - unit);
  gan.begin_at(theta, solution.covariance / slope.unsqueeze(0) / slope.unsqueeze(1));
  return solution;
}

}  // namespace sagips::optim
