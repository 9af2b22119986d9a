#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/compare/distances/distances.hpp"

namespace sagips::env::distances {

EventDistance likelihood(const Channel& channel) {
  if (!channel.density)
    throw core::ConfigError("distance.kind",
                            core::text("the likelihood of '", channel.name,
                                       "' is not known (its pipeline offers no density, or a stage "
                                       "behind the sampler changes events). Use another kind, such "
                                       "as energy."));
  const data::Dataset& data = channel.training;
  const Density::Sample sample =
      channel.density->sample(data.values, data.weights.value_or(torch::Tensor()), data.origin);
  const auto score = [density = *channel.density, sample](const torch::Tensor& physical,
                                                          const Events&) {
    std::vector<torch::Tensor> scores;
    for (const torch::Tensor& parameters : physical.unbind(0))
      scores.push_back(density.negative_log_likelihood(parameters, sample) / sample.events());
    return torch::stack(scores);
  };
  return {.score = score, .uses_events = false, .weight = sample.events()};
}

}  // namespace sagips::env::distances
