#include "sagips/optim/moments/moments.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "sagips/core/error.hpp"
#include "sagips/core/random.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/goodness.hpp"
#include "sagips/optim/moments/moment_descent.hpp"
#include "sagips/optim/moments/moment_model.hpp"

namespace sagips::optim {

namespace {

constexpr double hopeless = 1e-6;      // p-value below which another start is tried
constexpr double same_minimum = 1e-3;  // relative difference of chi2

using Clock = MomentDescent::Clock;

torch::Tensor starting_point(const MomentsConfig& config, std::int64_t free, std::int64_t start,
                             std::uint64_t seed) {
  if (start == 0 && config.start == MomentsConfig::Start::middle)
    return torch::zeros({free}, torch::kFloat64);
  torch::Tensor unit = torch::empty({free}, torch::kFloat64);
  core::RandomStream(seed, "moments starts")
      .uniform(static_cast<std::uint32_t>(start), 0,
               std::span<double>(unit.data_ptr<double>(), static_cast<std::size_t>(free)));
  return torch::logit(unit, 1e-3);
}

/// What the simulations with other random numbers say about a minimum.
struct Repetitions {
  torch::Tensor shift;                    ///< of theta by the mean of all simulations
  torch::Tensor covariance;               ///< of the shifted theta, from the simulation
  double chi2 = 0;                        ///< of the mean residuals, after the shift
  double chi2_excess = 0;                 ///< expected of the simulation's scatter in it
  double chi2_here = 0, excess_here = 0;  ///< the same without the shift
};

Repetitions repeat(const MomentModel& model, const torch::Tensor& theta,
                   const torch::Tensor& jacobian, const torch::Tensor& inverse_hessian,
                   std::int64_t events, std::int64_t repetitions) {
  std::vector<torch::Tensor> rows;
  for (std::int64_t i = 0; i <= repetitions; ++i)
    rows.push_back(model.residuals(theta.unsqueeze(0), events, i)[0]);
  const torch::Tensor all = torch::stack(rows);
  const torch::Tensor projector = torch::matmul(inverse_hessian, jacobian.t());
  const torch::Tensor mean = all.mean(0);
  Repetitions found;
  found.shift = -torch::matmul(projector, mean)
                     .clamp(-MomentDescent::longest_step, MomentDescent::longest_step);
  const torch::Tensor left = mean + torch::matmul(jacobian, found.shift);
  found.chi2 = sum_of_squares(left);
  found.chi2_here = sum_of_squares(mean);
  if (repetitions == 0) {
    found.covariance = torch::zeros_like(inverse_hessian);
    return found;
  }
  const double count = static_cast<double>(rows.size());
  const torch::Tensor scatter = all - mean;
  const torch::Tensor moved = torch::matmul(scatter, projector.t());
  found.covariance = torch::matmul(moved.t(), moved) / (count * (count - 1));
  const torch::Tensor across = scatter - torch::matmul(moved, jacobian.t());
  found.chi2_excess = sum_of_squares(across) / (count * (count - 1));
  found.excess_here = sum_of_squares(scatter) / (count * (count - 1));
  return found;
}

torch::Tensor inverse_of_hessian(const torch::Tensor& jacobian) {
  const torch::Tensor hessian = torch::matmul(jacobian.t(), jacobian);
  // on unit diagonal, so that the condition tells of directions and not of units
  const torch::Tensor scale = hessian.diagonal().clamp_min(1e-300).rsqrt();
  const torch::Tensor unit = hessian * scale.unsqueeze(0) * scale.unsqueeze(1);
  if (torch::linalg_eigvalsh(unit).min().item<double>() < 3e-8)
    throw core::StateError(
        "the moments do not fix every parameter (a direction changes none of them). Fix a "
        "parameter, raise moments.features.degree, add features or give reference numbers.");
  return torch::linalg_inv(unit) * scale.unsqueeze(0) * scale.unsqueeze(1);
}

std::int64_t last_events(const MomentModel& model, const MomentsConfig& config) {
  return config.events_for(model.data_events());
}

// The weights follow the point, then the point the weights, until it stays.
torch::Tensor with_model_weights(MomentModel& model, const MomentsConfig& config,
                                 MomentDescent& descent, torch::Tensor theta, bool& in_time) {
  constexpr int rounds = 4;
  constexpr double at_rest = 1e-3;  // of a logit
  for (int round = 0; round < rounds; ++round) {
    model.weigh_at(theta, last_events(model, config));
    in_time = descent.polish(theta);
    if (!in_time) break;
    const double moved = (descent.theta() - theta).abs().max().item<double>();
    theta = descent.theta();
    if (moved < at_rest) break;
  }
  return theta;
}

// At a minimum (or given point): errors, chi2 and, when asked for, the last averaged step.
Solution conclude(const MomentModel& model, const MomentsConfig& config, torch::Tensor theta,
                  bool may_move) {
  const std::int64_t events = last_events(model, config);
  const torch::Tensor jacobian = model.jacobian(theta, events);
  const torch::Tensor inverse = inverse_of_hessian(jacobian);
  const Repetitions repeated = repeat(model, theta, jacobian, inverse, events, config.repetitions);
  double chi2 = repeated.chi2, excess = repeated.chi2_excess;
  double degrees = static_cast<double>(model.size() - model.parameters().free_size());
  if (may_move) {
    theta = theta + repeated.shift;
  } else {  // the point was not chosen by its moments: all residuals count
    chi2 = repeated.chi2_here;
    excess = repeated.excess_here;
    degrees = static_cast<double>(model.size());
  }
  Solution solution;
  static_cast<Estimate&>(solution) =
      estimate_at(model.parameters(), theta, inverse + repeated.covariance);
  solution.errors_from = "covariance of the moments";
  solution.score = chi2;
  if (degrees > 0) {
    const double scale = 1 + excess / degrees;
    solution.goodness.push_back(
        {"chi2 of the moments", chi2 / scale, degrees, chi_square_tail(chi2 / scale, degrees)});
  }
  return solution;
}

}  // namespace

Solution MomentSolver::solve(const env::Environment& environment,
                             const SolveContext& context) const {
  const auto began = Clock::now();
  MomentModel model(environment, config_, context);
  const std::int64_t free = environment.parameters.free_size();
  if (model.size() < free)
    throw core::ConfigError("moments.features",
                            core::text(model.size(), " moments cannot fix ", free,
                                       " free parameters. Raise moments.features.degree."));
  const double degrees = static_cast<double>(model.size() - free);
  MomentDescent descent(model, config_, context, began);
  torch::Tensor best;
  double best_chi2 = std::numeric_limits<double>::infinity();
  std::int64_t starts = 0;
  bool in_time = true;
  while (in_time && starts < config_.starts) {
    const bool given = context.start && starts == 0;
    const torch::Tensor start =
        given ? environment.parameters.logit_from_physical(context.start->to(torch::kFloat64))
              : starting_point(config_, free, starts, context.seed);
    ++starts;
    try {
      in_time = given ? descent.polish(start) : descent.from(start);
    } catch (const core::StateError&) {  // no events there; another start may have some
      if (!best.defined() && starts >= config_.starts) throw;
      continue;
    }
    const double found = descent.chi2();
    const bool again = std::abs(found - best_chi2) < same_minimum * std::max(1.0, best_chi2);
    if (!best.defined() || found < best_chi2) {
      best_chi2 = found;
      best = descent.theta();
    }
    // good enough, or two starts agree that it does not get better
    if (chi_square_tail(best_chi2, std::max(degrees, 1.0)) > hopeless || again) break;
  }
  if (in_time && config_.weighting == MomentsConfig::Weighting::model)
    best = with_model_weights(model, config_, descent, best, in_time);
  Solution solution = conclude(model, config_, best, true);
  solution.starts = starts;
  solution.converged = in_time;
  solution.evaluations = model.evaluations();
  solution.time_s = std::chrono::duration<double>(Clock::now() - began).count();
  return solution;
}

Solution MomentSolver::judge(const env::Environment& environment, const SolveContext& context,
                             const torch::Tensor& physical) const {
  const MomentModel model(environment, config_, context);
  return conclude(model, config_,
                  environment.parameters.logit_from_physical(physical.to(torch::kFloat64)), false);
}

}  // namespace sagips::optim
