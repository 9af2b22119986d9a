#include "sagips/optim/moments/equal_events.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "sagips/core/text.hpp"
#include "sagips/env/compare/common_draw.hpp"
#include "sagips/env/compare/event_rows.hpp"

namespace sagips::optim {

namespace {

/// -2 ln of the probability that all events are as they are, at one value of the parameter.
class Deviance {
 public:
  Deviance(const env::Environment& environment, const MomentsConfig& config,
           const SolveContext& context)
      : environment_(environment) {
    for (const env::Channel& channel : environment.channels) {
      measured_.push_back(env::EventRows::of(channel.training).effective_size());
      events_.push_back(config.events_for(measured_.back()));
      noises_.push_back(
          env::common_draw(env::DrawKind::sobol, events_.back(),
                           env::noise_dimensions(channel.pipeline, environment.parameters),
                           core::RandomStream(context.seed, "equal events " + channel.name)));
    }
  }

  double operator()(double unit) const {
    torch::NoGradGuard no_grad;
    const torch::Tensor physical =
        environment_.parameters.physical_from_unit(torch::full({1, 1}, unit, torch::kFloat64));
    double sum = 0;
    for (std::size_t k = 0; k < measured_.size(); ++k) {
      const env::Channel& channel = environment_.channels[k];
      env::Noise noise(noises_[k], 1, events_[k]);
      const env::EventRows made =
          env::EventRows::of(channel.pipeline.infer(physical.to(torch::kFloat32), noise));
      const torch::Tensor alike = (made.values == channel.training.values[0]).all(1);
      sum -=
          2 * measured_[k] * std::log(made.shares().dot(alike.to(torch::kFloat64)).item<double>());
    }
    ++evaluations;
    return std::isfinite(sum) ? sum : std::numeric_limits<double>::infinity();
  }

  mutable std::int64_t evaluations = 0;

 private:
  const env::Environment& environment_;
  std::vector<double> measured_;
  std::vector<std::int64_t> events_;
  std::vector<std::shared_ptr<const env::NoiseSource>> noises_;
};

// Denser towards both ends of the range, where a limit may lie.
std::vector<double> places() {
  constexpr double step = 1.5;
  std::vector<double> all{2 * closest_to_end};
  while (all.back() * step < 0.5) all.push_back(all.back() * step);
  const std::size_t half = all.size();
  for (std::size_t i = half; i-- > 0;) all.push_back(1 - all[i]);
  return all;
}

}  // namespace

std::optional<Solution> solution_of_equal_events(const env::Environment& environment,
                                                 const MomentsConfig& config,
                                                 const SolveContext& context) {
  const auto are_equal = [](const env::Channel& channel) {
    return channel.training.size() > 0 && channel.training.reference.empty() &&
           (channel.training.values == channel.training.values[0]).all().item<bool>();
  };
  if (environment.parameters.free_size() != 1 || context.add_up ||
      !std::all_of(environment.channels.begin(), environment.channels.end(), are_equal))
    return std::nullopt;
  const auto began = std::chrono::steady_clock::now();
  const Deviance deviance(environment, config, context);
  const std::vector<double> units = places();
  std::vector<double> found;
  for (const double unit : units) found.push_back(deviance(unit));
  const auto best = std::min_element(found.begin(), found.end());
  if (!std::isfinite(*best)) return std::nullopt;
  const double at = units[static_cast<std::size_t>(best - found.begin())];
  double error = 1;  // where it has grown by one, on the nearer side
  for (std::size_t i = 0; i < units.size(); ++i)
    if (found[i] > *best + 1) error = std::min(error, std::abs(units[i] - at));
  const torch::Tensor unit = torch::tensor({at}, torch::kFloat64);
  const Uncertainty uncertainty{torch::full({1, 1}, error * error, torch::kFloat64),
                                torch::zeros({0, 1}, torch::kFloat64)};
  Solution solution;
  static_cast<Estimate&>(solution) = estimate_at(environment.parameters, unit, unit, uncertainty);
  add_profile(solution, environment.parameters, unit, torch::tensor({error}, torch::kFloat64),
              {false},
              [&](std::int64_t, double value, const auto&) { return deviance(value) - *best; });
  solution.warnings.push_back(
      {"equal-events",
       "all events are equal: value and limit come from how often the pipeline makes such events, "
       "and "
       "nothing says whether it describes others"});
  solution.errors_from = "probability of events that are all equal";
  solution.score = *best;
  solution.evaluations = deviance.evaluations;
  solution.time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return solution;
}

}  // namespace sagips::optim
