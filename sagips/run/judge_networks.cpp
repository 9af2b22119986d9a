#include "sagips/run/judge_networks.hpp"

#include <cmath>
#include <functional>

namespace sagips::run {

namespace {

bool is_learned(const env::Feature& feature) { return feature.name == "discriminator"; }

env::Environment without_learned_features(env::Environment environment) {
  for (env::Channel& channel : environment.channels) std::erase_if(channel.features, is_learned);
  return environment;
}

// A discriminator has seen these very events, and costs more than all other features: it judges those
// that were kept aside, and finds nothing.
env::Environment learned_features_on_events_aside(env::Environment environment) {
  std::erase_if(environment.channels, [](env::Channel& channel) {
    std::erase_if(channel.features, std::not_fn(is_learned));
    channel.training = channel.held_out;
    return channel.features.empty() || !channel.training.values.defined() ||
           channel.training.size() < optim::events_of_mean_test;
  });
  return environment;
}

void measure_distances(Judgement& judged, const std::vector<env::Parameter>& parameters,
                       const std::vector<double>& values) {
  judged.distances.assign(parameters.size(), 0);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].fixed) continue;
    const double found = judged.minimum.values[i];
    judged.distances[i] = parameters[i].nearest(values[i], found) - found;
    const double errors = std::abs(judged.distances[i]) / judged.minimum.errors[i];
    if (!(errors > judged.largest_distance)) continue;
    judged.largest_distance = errors;
    judged.farthest = parameters[i].name;
  }
}

}  // namespace

Judgement judge_networks(const Job& job, const env::Environment& environment,
                         const std::vector<double>& values) {
  Judgement judged;
  judged.finishes = job.inverse().gan.generator.finish == optim::GeneratorConfig::Finish::moments;
  const env::Environment plain = without_learned_features(environment),
                         aside = learned_features_on_events_aside(environment);
  const optim::MomentSolver solver(job.inverse().solvers.moments);
  optim::SolveContext context;
  context.seed = job.seed();
  context.start = torch::tensor(values, torch::kFloat64);
  context.intervals = judged.finishes;  // else the error is that of one answer beside another
  try {
    judged.minimum = solver.solve(plain, context);
    const torch::Tensor answer =
        judged.finishes ? torch::tensor(judged.minimum.values, torch::kFloat64) : *context.start;
    judged.goodness.push_back(solver.goodness(
        plain, context, answer, judged.finishes ? environment.parameters.free_size() : 0));
    judged.is_made = true;
    measure_distances(judged, environment.parameters.all(), values);
    if (!aside.channels.empty())
      judged.goodness.push_back(
          optim::mean_test(aside, answer, "discriminators on events kept aside", job.seed()));
  } catch (const std::exception& problem) {
    judged.problems.emplace_back(problem.what());
  }
  return judged;
}

}  // namespace sagips::run
