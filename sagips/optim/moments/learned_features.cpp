#include "sagips/optim/moments/learned_features.hpp"

#include <algorithm>
#include <memory>

#include "sagips/core/text.hpp"
#include "sagips/env/compare/event_classifier.hpp"
#include "sagips/env/noise/noise.hpp"

namespace sagips::optim {

namespace {

constexpr std::int64_t events_a_side = 16'384;
// Far enough that some ten thousand events tell the sides apart; near enough to be a slope.
constexpr double distance_in_errors = 8, shortest_distance = 0.01, longest_distance = 0.25;

env::EventRows simulated(const env::Pipeline& pipeline, const env::ParameterSet& parameters,
                         const torch::Tensor& unit, const core::RandomStream& stream) {
  torch::NoGradGuard no_grad;
  const torch::Tensor physical = parameters.physical_from_unit(unit.unsqueeze(0));
  env::Noise noise(std::make_shared<env::PhiloxNoise>(stream), 1, events_a_side);
  return env::EventRows::of(pipeline.infer(physical.to(torch::kFloat32), noise));
}

}  // namespace

env::Environment with_learned_features(const env::Environment& environment,
                                       const torch::Tensor& unit, const torch::Tensor& errors,
                                       const SolveContext& context) {
  const env::ParameterSet& parameters = environment.parameters;
  const torch::Tensor distances =
      (distance_in_errors * errors).clamp(shortest_distance, longest_distance);
  const RangeEnds ends(parameters);
  env::Environment learned = environment;
  for (env::Channel& channel : learned.channels)
    for (std::int64_t i = 0; i < unit.size(0); ++i) {
      const std::string& name =
          parameters.all()[parameters.free()[static_cast<std::size_t>(i)]].name;
      const auto rows = [&](double sign, const std::string& side) {
        torch::Tensor there = unit.clone();
        there[i] = ends.inside(unit + sign * distances)[i];
        return simulated(
            channel.pipeline, parameters, there,
            {context.seed, core::text("learned ", side, " ", name, " ", channel.name)});
      };
      const auto classifier = std::make_shared<env::EventClassifier>(
          env::EventClassifier::Config{}, rows(1, "above"), rows(-1, "below"),
          core::RandomStream(context.seed, core::text("learned ", name, " ", channel.name)));
      channel.features.push_back({"learned for " + name, [classifier](const torch::Tensor& events) {
                                    return classifier->logits(events);
                                  }});
    }
  return learned;
}

}  // namespace sagips::optim
