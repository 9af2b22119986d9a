#include "sagips/optim/gan.hpp"

namespace sagips::optim {

namespace {

double share_of_batch(const Batch& batch, const Tile& tile) {
  return static_cast<double>(tile.samples) / static_cast<double>(batch.samples);
}

}  // namespace

UpdateStep Gan::generator_step() {
  UpdateStep step;
  step.name = "generator";
  step.replica = &generator_.replica();
  step.adam = &generator_adam_;
  for (const env::Channel& channel : environment_.channels) {
    step.separable = step.separable && channel.objective.separable();
    has_reference_ = has_reference_ ||
                     (channel.objective.config().reference_terms != env::ReferenceTerms::none &&
                      !channel.training.reference.empty());
  }
  step.loss_names = {"generator"};
  if (has_reference_) step.loss_names.push_back("reference");
  if (config_.generator.spread_penalty > 0) step.loss_names.push_back("spread");
  step.gradients = [this](Batch& batch, const Tile& tile, nn::Leaves& leaves) {
    return generator_gradients(batch, tile, leaves);
  };
  return step;
}

UpdateStep Gan::discriminator_step(std::size_t channel) {
  const std::string& name = environment_.channels[channel].name;
  const std::string suffix = environment_.channels.size() > 1 ? " " + name : std::string();
  UpdateStep step;
  step.name = "discriminator" + suffix;
  step.replica = &discriminators_[channel]->replica;
  step.adam = &discriminators_[channel]->adam;
  // kept events lie in the generator step's tiles, so both steps must be cut alike
  step.separable = !keeps_events() || steps_[0].separable;
  step.loss_names = {"discriminator_real" + suffix, "discriminator_synthetic" + suffix};
  step.gradients = [this, channel](Batch& batch, const Tile& tile, nn::Leaves& leaves) {
    return discriminator_gradients(channel, batch, tile, leaves);
  };
  return step;
}

// mean_m (theta_m - mean theta)^2, mean over parameters. The derivative by the batch's mean
// vanishes, so taking it as a constant is exact and keeps the term a sum over samples.
torch::Tensor Gan::spread(Batch& batch, const torch::Tensor& logits) const {
  if (!batch.mean_logits.defined()) {
    torch::NoGradGuard no_grad;
    batch.mean_logits = generator_.logits(generator_.leaves(), batch.noise).mean(0);
  }
  return (logits - batch.mean_logits).square().mean();
}

std::vector<double> Gan::generator_gradients(Batch& batch, const Tile& tile, nn::Leaves& leaves) {
  const torch::Tensor logits =
      generator_.logits(leaves, batch.noise.narrow(0, tile.first, tile.samples));
  const torch::Tensor parameters = environment_.parameters.physical_from_logit(logits);
  const double share = share_of_batch(batch, tile);
  torch::Tensor loss;
  double adversarial = 0, reference = 0;
  for (std::size_t k = 0; k < discriminators_.size(); ++k) {
    const env::AdversarialObjective& objective = environment_.channels[k].objective;
    const env::Events events = synthesise("generator", k, batch, tile, parameters);
    if (keeps_events()) {
      auto& kept = batch.channels[k].kept;
      const auto slot = static_cast<std::size_t>(tile.index);
      if (kept.size() <= slot) kept.resize(slot + 1);
      kept[slot] = events.detached();
    }
    // nobody reads the discriminator's weight gradients here
    nn::Leaves judge_leaves;
    for (const torch::Tensor& leaf : discriminators_[k]->replica.leaves().tensors)
      judge_leaves.tensors.push_back(leaf.detach());
    const torch::Tensor score = objective.generator(judge(k, judge_leaves, events.values), events);
    adversarial += share * score.item<double>() /
                   objective.equilibrium(objective.config().label_generator) /
                   static_cast<double>(discriminators_.size());
    loss = loss.defined() ? loss + score : score;
    if (const torch::Tensor term = objective.reference(events); term.defined()) {
      reference += share * term.item<double>();
      loss = loss + term;
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

std::vector<double> Gan::discriminator_gradients(std::size_t channel, Batch& batch,
                                                 const Tile& tile, nn::Leaves& leaves) {
  const env::AdversarialObjective& objective = environment_.channels[channel].objective;
  env::Events events;
  if (keeps_events()) {
    events = batch.channels[channel].kept.at(static_cast<std::size_t>(tile.index));
  } else {
    torch::NoGradGuard no_grad;
    const torch::Tensor parameters =
        generator_.propose(generator_.leaves(), batch.noise.narrow(0, tile.first, tile.samples));
    events = synthesise("discriminator", channel, batch, tile, parameters);
  }
  const torch::Tensor real = batch.channels[channel].real.narrow(0, tile.first * batch.events,
                                                                 tile.samples * batch.events);
  const torch::Tensor loss_real = objective.real(judge(channel, leaves, real));
  const torch::Tensor loss_synthetic =
      objective.synthetic(judge(channel, leaves, events.values), events);
  const double share = share_of_batch(batch, tile);
  ((loss_real + loss_synthetic) * share).backward({}, {}, false, leaves.tensors);
  const auto& labels = objective.config();
  return {share * loss_real.item<double>() / objective.equilibrium(labels.label_real),
          share * loss_synthetic.item<double>() / objective.equilibrium(labels.label_synthetic)};
}

}  // namespace sagips::optim
