#include "sagips/env/compare/distances/likelihood.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env::distances {

namespace {

const Density& density_of(const Channel& channel) {
  if (!channel.density)
    throw core::ConfigError("distance.kind",
                            core::text("the likelihood of '", channel.name,
                                       "' is not known (its pipeline offers no density, or a stage "
                                       "behind the sampler changes events). Use another kind, such "
                                       "as energy."));
  return *channel.density;
}

}  // namespace

Likelihood::Likelihood(const Channel& channel)
    : density_(density_of(channel)),
      sample_(density_.sample(channel.training.values,
                              channel.training.weights.value_or(torch::Tensor()),
                              channel.training.origin)) {}

torch::Tensor Likelihood::operator()(const torch::Tensor& physical, const Events&) const {
  std::vector<torch::Tensor> scores;
  for (const torch::Tensor& parameters : physical.unbind(0))
    scores.push_back(density_.negative_log_likelihood(parameters, sample_) / sample_.events());
  return torch::stack(scores);
}

}  // namespace sagips::env::distances
