#include "sagips/optim/search/event_score.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "sagips/env/compare/common_draw.hpp"
#include "sagips/env/noise/noise_sobol.hpp"

namespace sagips::optim {

namespace {

constexpr std::int64_t events_at_a_time = 1 << 19;  // of the inference form

// relative, but for a number that should vanish
torch::Tensor squared_deviation(const torch::Tensor& number, double reference) {
  return (reference == 0 ? number : number / reference - 1).square();
}

}  // namespace

EventScore::EventScore(const env::Environment& environment,
                       const env::EventDistance::Config& config, std::uint64_t seed)
    : config_(config) {
  double total = 0;
  for (const env::Channel& channel : environment.channels) {
    const env::EventDistance distance = env::make_event_distance(
        config, channel, core::RandomStream(seed, "event distance " + channel.name));
    total += distance.weight;
    const core::RandomStream stream(seed, "event score " + channel.name);
    std::shared_ptr<const env::NoiseSource> draw;
    if (distance.uses_events)
      draw =
          env::common_draw(env::DrawKind::sobol, config.events,
                           env::noise_dimensions(channel.pipeline, environment.parameters), stream);
    parts_.push_back({&channel, distance, stream, std::move(draw), distance.weight});
  }
  for (Part& part : parts_) part.weight *= static_cast<double>(parts_.size()) / total;
}

torch::Tensor EventScore::reference_terms(const Part& part, const torch::Tensor& physical,
                                          const env::Events& events) const {
  torch::Tensor sum = torch::zeros({physical.size(0)}, torch::kFloat64);
  const auto& reference = part.channel->training.reference;
  if (part.distance.uses_events) {
    for (const auto& [name, number] : events.numbers)
      if (const auto known = reference.find(name); known != reference.end())
        sum = sum + squared_deviation(number.to(torch::kFloat64), known->second);
    return sum;
  }
  const env::Density& density = *part.channel->density;
  for (std::size_t k = 0; k < density.norm_names().size(); ++k) {
    const auto known = reference.find(density.norm_names()[k]);
    if (known == reference.end()) continue;
    std::vector<torch::Tensor> numbers;
    for (const torch::Tensor& parameters : physical.unbind(0))
      numbers.push_back(density.norms(parameters)[static_cast<std::int64_t>(k)]);
    sum = sum + squared_deviation(torch::stack(numbers), known->second);
  }
  return sum;
}

torch::Tensor EventScore::of_part(const Part& part, const torch::Tensor& physical, Form form,
                                  std::uint32_t step) const {
  env::Events events;
  if (part.distance.uses_events) {
    const auto source = form == Form::inference
                            ? part.draw
                            : std::make_shared<env::CommonNoise>(
                                  std::make_shared<env::PhiloxNoise>(part.noise.at_step(step)));
    env::Noise noise(source, physical.size(0), config_.events);
    const torch::Tensor parameters = physical.to(torch::kFloat32);
    events = form == Form::training ? part.channel->pipeline(parameters, noise)
                                    : part.channel->pipeline.infer(parameters, noise);
  }
  const torch::Tensor score = part.distance.score(physical, events) * part.weight;
  return score + config_.reference_weight * reference_terms(part, physical, events);
}

torch::Tensor EventScore::operator()(const torch::Tensor& physical, std::uint32_t step) const {
  torch::Tensor sum = torch::zeros({physical.size(0)}, torch::kFloat64);
  for (const Part& part : parts_) sum = sum + of_part(part, physical, Form::training, step);
  return sum;
}

torch::Tensor EventScore::infer(const torch::Tensor& physical) const {
  torch::NoGradGuard no_grad;
  const std::int64_t points = physical.size(0);
  const std::int64_t chunk = std::max<std::int64_t>(1, events_at_a_time / config_.events);
  torch::Tensor scores = torch::zeros({points}, torch::kFloat64);
  for (std::int64_t first = 0; first < points; first += chunk) {
    const std::int64_t count = std::min(chunk, points - first);
    for (const Part& part : parts_)
      scores.narrow(0, first, count) +=
          of_part(part, physical.narrow(0, first, count), Form::inference, 0);
  }
  return torch::where(torch::isfinite(scores), scores, std::numeric_limits<double>::infinity());
}

}  // namespace sagips::optim
