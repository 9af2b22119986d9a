#include "sagips/optim/gan/sobol_noises.hpp"

#include "sagips/env/compare/common_draw.hpp"
#include "sagips/env/noise/noise_sobol.hpp"

namespace sagips::optim {

SobolNoises::SobolNoises(const env::Environment& environment, std::int64_t events,
                         std::uint64_t seed)
    : events_(events), seed_(seed) {
  for (const env::Channel& channel : environment.channels) {
    channels_.push_back(channel.name);
    dimensions_.push_back(env::noise_dimensions(channel.pipeline, environment.parameters));
  }
}

std::shared_ptr<const env::NoiseSource> SobolNoises::operator()(const std::string& step,
                                                                std::size_t channel,
                                                                std::uint32_t epoch) {
  const std::lock_guard lock(mutex_);
  Made& made = made_[{step, channel}];
  if (made.epoch != epoch)
    made = {epoch,
            std::make_shared<env::SobolNoise>(
                events_, dimensions_[channel],
                core::RandomStream(seed_, step + " sobol points " + channels_[channel], epoch))};
  return made.source;
}

}  // namespace sagips::optim
