#include <algorithm>

#include "sagips/optim/gan.hpp"

namespace sagips::optim {

namespace {

double share_of_batch(const Batch& batch, const Tile& tile) {
  return static_cast<double>(tile.samples) / static_cast<double>(batch.samples);
}

torch::Tensor real_events(const ChannelBatch& channel, const Batch& batch, const Tile& tile) {
  return channel.real.narrow(0, tile.first * batch.events, tile.samples * batch.events);
}

}  // namespace

void Gan::add_alternating_passes() {
  passes_.push_back(generator_pass());
  for (std::size_t k = 0; k < discriminators_.size(); ++k) passes_.push_back(discriminator_pass(k));
}

Pass Gan::generator_pass() {
  Pass pass;
  pass.name = "generator";
  pass.steps = {0};
  for (const env::Channel& channel : environment_.channels)
    pass.separable = pass.separable && channel.objective.separable();
  pass.loss_names = {"generator"};
  if (has_reference_) pass.loss_names.push_back("reference");
  if (config_.generator.spread_penalty > 0) pass.loss_names.push_back("spread");
  pass.prepare = [this](Batch& batch, std::int64_t tiles) { prepare_generator(batch, tiles); };
  pass.gradients = [this](Batch& batch, const Tile& tile, std::span<nn::Leaves* const> leaves) {
    return generator_gradients(
        batch, tile, *leaves[0],
        [this](std::size_t channel, const env::Events& events) { return score(channel, events); });
  };
  return pass;
}

Pass Gan::discriminator_pass(std::size_t channel) {
  Pass pass;
  pass.name = "discriminator" + suffix(channel);
  pass.steps = {channel + 1};
  // kept events lie in the generator step's tiles, so both steps must be cut alike
  pass.separable = !keeps_events() || passes_[0].separable;
  pass.loss_names = {"discriminator_real" + suffix(channel),
                     "discriminator_synthetic" + suffix(channel)};
  pass.prepare = [this, channel](Batch&, std::int64_t) {
    discriminators_[channel]->pack();
    if (!keeps_events()) generator_.pack();
  };
  pass.gradients = [this, channel](Batch& batch, const Tile& tile,
                                   std::span<nn::Leaves* const> leaves) {
    const env::Events events =
        keeps_events() ? batch.channels[channel].kept.at(static_cast<std::size_t>(tile.index))
                       : fresh_events(channel, batch, tile);
    const Judgement losses = learn(channel, batch, tile, events, *leaves[0], nullptr);
    return std::vector<double>{losses.real, losses.synthetic};
  };
  return pass;
}

void Gan::add_simultaneous_pass() {
  Pass pass = generator_pass();
  pass.name = "both networks";
  for (std::size_t k = 0; k < discriminators_.size(); ++k) {
    pass.steps.push_back(k + 1);
    pass.loss_names.push_back("discriminator_real" + suffix(k));
    pass.loss_names.push_back("discriminator_synthetic" + suffix(k));
  }
  pass.gradients = [this](Batch& batch, const Tile& tile, std::span<nn::Leaves* const> leaves) {
    return simultaneous_gradients(batch, tile, leaves);
  };
  passes_.push_back(std::move(pass));
}

void Gan::prepare_generator(Batch& batch, std::int64_t tiles) {
  if (config_.generator.spread_penalty > 0) {
    torch::NoGradGuard no_grad;
    batch.mean_logits = generator_.logits(generator_.leaves(), batch.noise).mean(0);
  }
  for (std::size_t k = 0; k < discriminators_.size(); ++k) {
    if (keeps_events()) batch.channels[k].kept.resize(static_cast<std::size_t>(tiles));
    discriminators_[k]->pack();
  }
  generator_.pack();
}

// mean_m (theta_m - mean theta)^2, mean over parameters. The derivative by the batch's mean
// vanishes, so taking it as a constant is exact and keeps the term a sum over samples.
torch::Tensor Gan::spread(const Batch& batch, const torch::Tensor& logits) const {
  return (logits - batch.mean_logits).square().mean();
}

// Nobody reads the gradients of the discriminator's weights here.
torch::Tensor Gan::score(std::size_t channel, const env::Events& events) const {
  const Discriminator& discriminator = *discriminators_[channel];
  const torch::Tensor input = discriminator.input(events.values);
  if (discriminator.fused) return (*discriminator.fused)(input);
  std::vector<torch::Tensor> weights;
  for (const torch::Tensor& leaf : discriminator.replica.leaves().tensors)
    weights.push_back(leaf.detach());
  return discriminator.network(weights, input).squeeze(-1);
}

std::vector<double> Gan::generator_gradients(Batch& batch, const Tile& tile, nn::Leaves& leaves,
                                             const Score& score) const {
  const torch::Tensor logits =
      generator_.packed_logits(leaves, batch.noise.narrow(0, tile.first, tile.samples));
  const torch::Tensor parameters = environment_.parameters.physical_from_logit(logits);
  const double share = share_of_batch(batch, tile);
  torch::Tensor loss;
  double adversarial = 0, reference = 0;
  for (std::size_t k = 0; k < discriminators_.size(); ++k) {
    const env::AdversarialObjective& objective = environment_.channels[k].objective;
    const env::Events events = synthesise("generator", k, batch, tile, parameters);
    if (keeps_events())
      batch.channels[k].kept.at(static_cast<std::size_t>(tile.index)) = events.detached();
    const torch::Tensor fooled = objective.generator(score(k, events), events);
    adversarial += share * fooled.item<double>() /
                   objective.equilibrium(objective.config().label_generator) /
                   static_cast<double>(discriminators_.size());
    const double weight = environment_.channels[k].weight;
    loss = loss.defined() ? loss + fooled * weight : fooled * weight;
    if (const torch::Tensor term = objective.reference(events); term.defined()) {
      reference += share * term.item<double>();
      loss = loss + term * weight;
    }
  }
  std::vector<double> losses = {adversarial};
  if (has_reference_) losses.push_back(reference);
  if (config_.generator.spread_penalty > 0) {
    const torch::Tensor variance = spread(batch, logits);
    losses.push_back(share * variance.item<double>());
    loss = loss + variance * config_.generator.spread_penalty;
  }
  (loss * share).backward({}, {}, false, leaves.tensors);
  return losses;
}

env::Events Gan::fresh_events(std::size_t channel, const Batch& batch, const Tile& tile) {
  torch::NoGradGuard no_grad;
  const torch::Tensor parameters =
      environment_.parameters.physical_from_logit(generator_.packed_logits(
          generator_.replica().leaves(), batch.noise.narrow(0, tile.first, tile.samples)));
  return synthesise("discriminator", channel, batch, tile, parameters);
}

// Adds the gradients of a discriminator's loss. scores, when asked for: its outputs on the synthetic
// events, differentiable by these.
Gan::Judgement Gan::learn(std::size_t channel, const Batch& batch, const Tile& tile,
                          const env::Events& events, nn::Leaves& leaves,
                          torch::Tensor* scores) const {
  const Discriminator& discriminator = *discriminators_[channel];
  const env::AdversarialObjective& objective = environment_.channels[channel].objective;
  const torch::Tensor real = discriminator.input(real_events(batch.channels[channel], batch, tile));
  const double share = share_of_batch(batch, tile);
  const env::Events constant = events.detached();
  if (discriminator.fused)
    return learn_fused(channel, share, real, scores ? events : constant, leaves, scores);

  const auto judge = [&](const torch::Tensor& input) {
    return discriminator.network(leaves.tensors, input).squeeze(-1);
  };
  const torch::Tensor loss_real = objective.real(judge(real));
  const torch::Tensor loss_synthetic =
      objective.synthetic(judge(discriminator.input(constant.values)), constant);
  ((loss_real + loss_synthetic) * share).backward({}, {}, false, leaves.tensors);
  if (scores) *scores = score(channel, events);
  const auto& labels = objective.config();
  return {share * loss_real.item<double>() / objective.equilibrium(labels.label_real),
          share * loss_synthetic.item<double>() / objective.equilibrium(labels.label_synthetic)};
}

Gan::Judgement Gan::learn_fused(std::size_t channel, double share, const torch::Tensor& real,
                                const env::Events& events, nn::Leaves& leaves,
                                torch::Tensor* scores) const {
  const Discriminator& discriminator = *discriminators_[channel];
  const env::AdversarialObjective& objective = environment_.channels[channel].objective;
  const auto& labels = objective.config();

  // what a row counts in its mean, times the slope of its loss; the mean itself goes to `loss`
  const auto slopes_of = [&](double label, const torch::Tensor& shares, std::int64_t rows,
                             double& loss) {
    const float* const counts = shares.defined() ? shares.data_ptr<float>() : nullptr;
    const double alike = 1.0 / static_cast<double>(rows);
    return [&objective, &loss, label, counts, alike, share](
               std::span<const float> outputs, std::int64_t first, std::span<float> slopes) {
      thread_local std::vector<float> values;
      values.resize(outputs.size());
      objective.evaluate(outputs, label, values, slopes);
      for (std::size_t i = 0; i < slopes.size(); ++i) {
        const double count =
            counts ? static_cast<double>(counts[first + static_cast<std::int64_t>(i)]) : alike;
        loss += count * static_cast<double>(values[i]);
        slopes[i] *= static_cast<float>(share * count);
      }
    };
  };
  Judgement losses{0, 0};
  discriminator.fused->learn(real, slopes_of(labels.label_real, {}, real.size(0), losses.real),
                             leaves);
  torch::Tensor shares;
  {
    torch::NoGradGuard no_grad;
    shares = objective.event_shares(events);
    if (shares.defined()) shares = shares.contiguous();
  }
  const torch::Tensor input = discriminator.input(events.values);
  const torch::Tensor score_synthetic = discriminator.fused->learn(
      input,
      slopes_of(labels.label_synthetic, shares, input.numel() / input.size(-1), losses.synthetic),
      leaves);
  if (scores) *scores = score_synthetic;
  losses.real *= share / objective.equilibrium(labels.label_real);
  losses.synthetic *= share / objective.equilibrium(labels.label_synthetic);
  return losses;
}

std::vector<double> Gan::simultaneous_gradients(Batch& batch, const Tile& tile,
                                                std::span<nn::Leaves* const> leaves) const {
  std::vector<Judgement> judgements(discriminators_.size());
  std::vector<double> losses = generator_gradients(
      batch, tile, *leaves[0], [&](std::size_t channel, const env::Events& events) {
        torch::Tensor scores;
        judgements[channel] = learn(channel, batch, tile, events, *leaves[channel + 1], &scores);
        return scores;
      });
  for (const Judgement& judgement : judgements)
    losses.insert(losses.end(), {judgement.real, judgement.synthetic});
  return losses;
}

}  // namespace sagips::optim
