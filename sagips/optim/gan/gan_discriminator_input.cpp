// What the discriminators see of an epoch's events.
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/gan/gan.hpp"

namespace sagips::optim {

namespace {

torch::Tensor real_events(const ChannelBatch& channel, const GanBatch& batch, const Tile& tile) {
  return channel.real.narrow(0, tile.first * batch.events, tile.samples * batch.events);
}

void check_pairs(const torch::Tensor& real, const torch::Tensor& synthetic) {
  const std::int64_t rows = synthetic.numel() / synthetic.size(-1);
  if (real.size(0) != rows)
    throw core::ShapeError(
        "pairs of measured and synthetic events",
        core::text("the pipeline made ", rows, " events for ", real.size(0),
                   " measured ones, and each needs a partner. Make the stages keep the number of "
                   "events (mask what is lost), or use another loss or penalty."));
}

}  // namespace

DiscriminatorInput Gan::discriminator_input(const std::string& step, std::size_t channel,
                                            const GanBatch& batch, const Tile& tile,
                                            const env::Events& events) const {
  using Kind = GradientPenaltyConfig::Kind;
  const Discriminator& discriminator = *discriminators_[channel];
  const GradientPenaltyConfig& penalty = config_.discriminator.gradient_penalty;
  DiscriminatorInput input;
  input.events = events;
  input.share = static_cast<double>(tile.samples) / static_cast<double>(batch.samples);
  input.synthetic =
      blurred(step + " synthetic", channel, batch, tile, discriminator.input(events.values));
  input.real = blurred(step + " measured", channel, batch, tile,
                       discriminator.input(real_events(batch.channels[channel], batch, tile)));
  input.penalty_factor = penalty.factor_in(batch.step);
  if (discriminator.objective().compares_pairs() || penalty.kind == Kind::wasserstein)
    check_pairs(input.real, input.synthetic);
  if (input.penalty_factor > 0 && penalty.kind == Kind::wasserstein) {
    const core::RandomStream stream(
        seed_, step + " places of the penalty " + environment_.channels[channel].name, batch.step);
    env::Noise noise(std::make_shared<env::PhiloxNoise>(stream), tile.samples, batch.events,
                     first_sample_ + tile.first, torch::kFloat32, device_);
    input.places = noise.uniform().reshape({-1, 1});
  }
  return input;
}

// x + s (1 - t) n with n from N(0, 1), s in deviations of the data and t the share of the run that
// is over: distributions that hardly overlap do so at first.
torch::Tensor Gan::blurred(const std::string& purpose, std::size_t channel, const GanBatch& batch,
                           const Tile& tile, const torch::Tensor& input) const {
  const double deviation = config_.discriminator.instance_noise * (1 - batch.progress);
  if (deviation <= 0) return input;
  const core::RandomStream stream(
      seed_, purpose + " instance noise " + environment_.channels[channel].name, batch.step);
  const std::int64_t events = input.numel() / input.size(-1) / tile.samples;
  env::Noise noise(std::make_shared<env::PhiloxNoise>(stream), tile.samples, events,
                   first_sample_ + tile.first, torch::kFloat32, device_);
  std::vector<torch::Tensor> observables;
  for (std::int64_t i = 0; i < input.size(-1); ++i) observables.push_back(noise.normal());
  const torch::Tensor normal = torch::stack(observables, -1).view(input.sizes());
  return input + normal * discriminators_[channel]->unit() * deviation;
}

}  // namespace sagips::optim
