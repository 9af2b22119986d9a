#include "sagips/core/text.hpp"
#include "sagips/optim/gan/gan.hpp"

namespace sagips::optim {

namespace {

GanBatch& of_gan(Batch& batch) { return static_cast<GanBatch&>(batch); }

double share_of_batch(const Batch& batch, const Tile& tile) {
  return static_cast<double>(tile.samples) / static_cast<double>(batch.samples);
}

}  // namespace

void Gan::add_alternating_passes() {
  passes_.push_back(generator_pass());
  for (std::int64_t further = 0; further < config_.optimizer.discriminator_steps; ++further)
    for (std::size_t k = 0; k < discriminators_.size(); ++k)
      passes_.push_back(discriminator_pass(k, further));
}

Pass Gan::generator_pass() {
  Pass pass;
  pass.name = "generator";
  pass.steps = {0};
  for (const auto& discriminator : discriminators_)
    pass.separable = pass.separable && discriminator->objective().separable();
  pass.loss_names = {"generator"};
  if (has_reference_) pass.loss_names.push_back("reference");
  if (config_.generator.spread_penalty > 0) pass.loss_names.push_back("spread");
  pass.prepare = [this](Batch& batch, std::int64_t tiles) {
    prepare_generator(of_gan(batch), tiles);
  };
  pass.gradients = [this](Batch& batch, const Tile& tile, std::span<nn::Leaves* const> leaves) {
    return generator_gradients(of_gan(batch), tile, *leaves[0],
                               [this](std::size_t channel, const DiscriminatorInput& input) {
                                 return discriminators_[channel]->score(input);
                               });
  };
  return pass;
}

// The losses of further steps are not printed.
Pass Gan::discriminator_pass(std::size_t channel, std::int64_t further) {
  const std::string step =
      further > 0 ? core::text("discriminator step ", further + 1) : "discriminator";
  Pass pass;
  pass.name = step + suffix(channel);
  pass.steps = {channel + 1};
  // kept events lie in the generator step's tiles, so both steps must be cut alike
  pass.separable = !keeps_events() || passes_[0].separable;
  if (further == 0) name_losses(pass, channel);
  const auto own = [further](Batch& all) -> GanBatch& {
    GanBatch& batch = of_gan(all);
    return further > 0 ? batch.further.at(static_cast<std::size_t>(further - 1)) : batch;
  };
  pass.prepare = [this, channel, own](Batch& batch, std::int64_t) {
    own(batch).progress = batch.progress;
    discriminators_[channel]->pack();
    if (!keeps_events()) generator_.pack();
  };
  pass.gradients = [this, channel, step, own](Batch& all, const Tile& tile,
                                              std::span<nn::Leaves* const> leaves) {
    const GanBatch& batch = own(all);
    const env::Events events =
        keeps_events() ? batch.channels[channel].kept.at(static_cast<std::size_t>(tile.index))
                       : fresh_events(step, channel, batch, tile);
    std::vector<torch::Tensor> losses;
    const core::Span learning(tracer_, "discriminator forward and backward");
    list_losses(discriminators_[channel]->learn(
                    discriminator_input(step, channel, batch, tile, events), *leaves[0], nullptr),
                losses);
    return torch::stack(losses);
  };
  return pass;
}

void Gan::name_losses(Pass& pass, std::size_t channel) const {
  pass.loss_names.push_back("discriminator_real" + suffix(channel));
  pass.loss_names.push_back("discriminator_synthetic" + suffix(channel));
  if (is_penalised()) pass.loss_names.push_back("discriminator_penalty" + suffix(channel));
}

void Gan::list_losses(const Discriminator::Losses& of_channel,
                      std::vector<torch::Tensor>& losses) const {
  losses.insert(losses.end(), {of_channel.real, of_channel.synthetic});
  if (is_penalised()) losses.push_back(of_channel.penalty);
}

void Gan::add_simultaneous_pass() {
  Pass pass = generator_pass();
  pass.name = "both networks";
  for (std::size_t k = 0; k < discriminators_.size(); ++k) {
    pass.steps.push_back(k + 1);
    name_losses(pass, k);
  }
  pass.gradients = [this](Batch& batch, const Tile& tile, std::span<nn::Leaves* const> leaves) {
    return simultaneous_gradients(of_gan(batch), tile, leaves);
  };
  passes_.push_back(std::move(pass));
}

void Gan::prepare_generator(GanBatch& batch, std::int64_t tiles) {
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
torch::Tensor Gan::spread(const GanBatch& batch, const torch::Tensor& logits) const {
  return (logits - batch.mean_logits).square().mean();
}

torch::Tensor Gan::generator_gradients(GanBatch& batch, const Tile& tile, nn::Leaves& leaves,
                                       const Score& score) const {
  core::Span proposing(tracer_, "generator forward");
  const torch::Tensor logits =
      generator_.packed_logits(leaves, batch.noise.narrow(0, tile.first, tile.samples));
  const torch::Tensor parameters = environment_.parameters.physical_from_logit(logits);
  proposing.end();
  const double share = share_of_batch(batch, tile);
  torch::Tensor loss;
  torch::Tensor adversarial = torch::zeros({}, torch::dtype(torch::kFloat64).device(device_)),
                reference = torch::zeros_like(adversarial);
  for (std::size_t k = 0; k < discriminators_.size(); ++k) {
    const AdversarialObjective& objective = discriminators_[k]->objective();
    const env::Events events = synthesise("generator", k, batch, tile, parameters);
    if (keeps_events())
      batch.channels[k].kept.at(static_cast<std::size_t>(tile.index)) = events.detached();
    const core::Span judging(tracer_, is_simultaneous() ? "discriminator forward and backward"
                                                        : "discriminator forward");
    const torch::Tensor fooled = objective.generator(
        score(k, discriminator_input("generator", k, batch, tile, events)), events);
    adversarial.add_(told(fooled), share / objective.equilibrium(Side::generator) /
                                       static_cast<double>(discriminators_.size()));
    const double weight = environment_.channels[k].weight;
    loss = loss.defined() ? loss + fooled * weight : fooled * weight;
    if (const torch::Tensor term = objective.reference(events); term.defined()) {
      reference.add_(told(term), share);
      loss = loss + term * weight;
    }
  }
  std::vector<torch::Tensor> losses = {adversarial};
  if (has_reference_) losses.push_back(reference);
  if (config_.generator.spread_penalty > 0) {
    const torch::Tensor variance = spread(batch, logits);
    losses.push_back(told(variance) * share);
    loss = loss + variance * config_.generator.spread_penalty;
  }
  const core::Span differentiating(tracer_, "backward");
  (loss * share).backward({}, {}, false, leaves.tensors);
  return torch::stack(losses);
}

env::Events Gan::fresh_events(const std::string& step, std::size_t channel, const GanBatch& batch,
                              const Tile& tile) {
  torch::NoGradGuard no_grad;
  core::Span proposing(tracer_, "generator forward");
  const torch::Tensor parameters =
      environment_.parameters.physical_from_logit(generator_.packed_logits(
          generator_.replica().leaves(), batch.noise.narrow(0, tile.first, tile.samples)));
  proposing.end();
  return synthesise(step, channel, batch, tile, parameters);
}

torch::Tensor Gan::simultaneous_gradients(GanBatch& batch, const Tile& tile,
                                          std::span<nn::Leaves* const> leaves) const {
  std::vector<Discriminator::Losses> channel_losses(discriminators_.size());
  const torch::Tensor of_generator = generator_gradients(
      batch, tile, *leaves[0], [&](std::size_t channel, const DiscriminatorInput& input) {
        torch::Tensor scores;
        channel_losses[channel] =
            discriminators_[channel]->learn(input, *leaves[channel + 1], &scores);
        return scores;
      });
  std::vector<torch::Tensor> losses;
  for (const Discriminator::Losses& of_channel : channel_losses) list_losses(of_channel, losses);
  return torch::cat({of_generator, torch::stack(losses)});
}

}  // namespace sagips::optim
