#include "sagips/optim/gan/discriminator.hpp"

#include <span>
#include <vector>

#include "sagips/core/random.hpp"
#include "sagips/nn/initialise.hpp"

namespace sagips::optim {

namespace {

bool is_raw(const DiscriminatorConfig& config) {
  return config.input == DiscriminatorConfig::Input::raw;
}

const float* floats_of(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

/// What of a tile's rows goes into the mean of a loss.
struct Mean {
  Side side;
  torch::Tensor partners;  ///< logits of the pairs' other events; undefined: there are no pairs
  torch::Tensor shares;    ///< of the rows, summing to 1; undefined: all alike
  std::int64_t rows;
  double share;  ///< of the tile in the batch
};

// what a row counts in its mean, times the slope of its loss; the mean itself goes to `loss`
nn::FusedMlp::Slopes slopes_of(const AdversarialObjective& objective, const Mean& mean,
                               double& loss) {
  const float *const counts = floats_of(mean.shares), *const partners = floats_of(mean.partners);
  const double alike = 1.0 / static_cast<double>(mean.rows);
  return [&objective, &loss, side = mean.side, counts, partners, alike, share = mean.share](
             std::span<const float> outputs, std::int64_t first, std::span<float> slopes) {
    thread_local std::vector<float> values;
    values.resize(outputs.size());
    const std::span<const float> others =
        partners ? std::span(partners + first, outputs.size()) : std::span<const float>();
    objective.evaluate(side, outputs, others, values, slopes);
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      const double count =
          counts ? static_cast<double>(counts[first + static_cast<std::int64_t>(i)]) : alike;
      loss += count * static_cast<double>(values[i]);
      slopes[i] *= static_cast<float>(share * count);
    }
  };
}

// shape: input [..., observables] -> [...]; a network of listed layers wants rows
torch::Tensor of_rows(const nn::Network& network, const nn::Leaves& leaves,
                      const torch::Tensor& input) {
  const torch::Tensor rows = network(leaves, input.reshape({-1, input.size(-1)}), {});
  return rows.view(input.sizes().slice(0, static_cast<std::size_t>(input.dim() - 1)));
}

}  // namespace

Discriminator::Discriminator(const DiscriminatorConfig& config, const UpdateConfig& update,
                             const nn::DenseConfig& dense, AdversarialObjective objective,
                             const env::Channel& channel, std::uint64_t seed, torch::Device device,
                             const problem::RankPlace& place)
    : config_(config),
      objective_(std::move(objective)),
      network_(config.network.network(channel.observables(), 1, "discriminator")),
      replica_(network_, config.shared, device),
      rule_(make_update_rule(replica_, update, "optimizer.discriminator")),
      fused_(nn::FusedMlp::make(*network_, dense, device)),
      constant_(replica_.leaves_over(replica_.weights())) {
  // networks that exchange gradients begin alike, the others do not
  const bool common = config.exchange != "none";
  const auto owner = common ? 0 : static_cast<std::uint32_t>(place.rank);
  nn::initialise_kaiming_normal(
      replica_, config.network.negative_slope,
      core::RandomStream(seed, "discriminator weights " + channel.name, owner));
  if (config.spectral_norm)
    spectral_norm_ = std::make_unique<nn::SpectralNorm>(
        replica_, core::RandomStream(seed, "singular vectors " + channel.name, owner));
  if (is_raw(config) && config.instance_noise == 0) return;
  const env::Moments moments = channel.moments_or_own();
  centre_ = moments.mean.to(device);
  scale_ = moments.deviation.to(device);
}

UpdateStep Discriminator::step(const std::string& name) {
  UpdateStep step{
      .name = name, .replica = &replica_, .rule = rule_.get(), .network = "discriminator"};
  if (spectral_norm_) step.updated = [this] { spectral_norm_->normalise(); };
  return step;
}

void Discriminator::pack() {
  if (fused_) fused_->pack(replica_.leaves());
}

torch::Tensor Discriminator::input(const torch::Tensor& events) const {
  return is_raw(config_) ? events : (events - centre_) / scale_;
}

torch::Tensor Discriminator::unit() const {
  return is_raw(config_) ? scale_ : torch::ones({}, scale_.options());
}

torch::Tensor Discriminator::logits(const torch::Tensor& input) const {
  return fused_ ? (*fused_)(input) : judged(constant_, input);
}

torch::Tensor Discriminator::judged(const nn::Leaves& leaves, const torch::Tensor& input) const {
  return of_rows(*network_, leaves, input);
}

torch::Tensor Discriminator::score(const DiscriminatorInput& input) const {
  const torch::Tensor synthetic = logits(input.synthetic);
  return objective_.compares_pairs() ? synthetic - logits(input.real).view_as(synthetic)
                                     : synthetic;
}

env::Feature Discriminator::feature() const {
  const nn::Leaves leaves = replica_.leaves_over(replica_.weights().to(torch::kCPU).clone());
  const auto constant = [](const torch::Tensor& numbers) {
    return numbers.defined() ? numbers.to(torch::kCPU) : numbers;
  };
  const bool is_raw = config_.input == DiscriminatorConfig::Input::raw;
  const torch::Tensor centre = is_raw ? torch::Tensor() : constant(centre_);
  const torch::Tensor scale = constant(scale_);
  return {"discriminator", [network = network_, leaves, centre, scale](const torch::Tensor& x) {
            const torch::Tensor input = centre.defined() ? (x - centre) / scale : x;
            return torch::tanh(of_rows(*network, leaves, input.to(torch::kFloat32)) * 0.5);
          }};
}

Discriminator::Losses Discriminator::learn(const DiscriminatorInput& input, nn::Leaves& leaves,
                                           torch::Tensor* scores) const {
  torch::Tensor shares;
  {
    torch::NoGradGuard no_grad;
    shares = objective_.event_shares(input.events);
    if (shares.defined()) shares = shares.contiguous();
  }
  const bool by_rows = fused_ && fused_->is_on_cpu();
  const auto is_known = [this](Side side) {
    return objective_.known(side).kind != nn::KnownLoss::Kind::none;
  };
  const bool is_known_loss = fused_ && !objective_.compares_pairs() && !shares.defined() &&
                             is_known(Side::real) && is_known(Side::synthetic);
  Losses losses = by_rows         ? learn_fused(input, shares, leaves, scores)
                  : is_known_loss ? learn_known(input, leaves)
                                  : learn_plain(input, leaves);
  losses.real = losses.real * (input.share / objective_.equilibrium(Side::real));
  losses.synthetic = losses.synthetic * (input.share / objective_.equilibrium(Side::synthetic));
  losses.penalty = torch::zeros_like(losses.real);
  if (!by_rows && scores) *scores = score(input);
  if (input.penalty_factor > 0) {
    const torch::Tensor synthetic = input.synthetic.detach().flatten(0, -2);
    losses.penalty =
        add_gradient_penalty(
            config_.gradient_penalty.kind, input.penalty_factor, *network_,
            {input.real, synthetic, shares.defined() ? shares.flatten() : shares, input.places},
            input.share, leaves) *
        input.share;
  }
  return losses;
}

Discriminator::Losses Discriminator::learn_plain(const DiscriminatorInput& input,
                                                 nn::Leaves& leaves) const {
  const auto judge = [&](const torch::Tensor& events) {
    return fused_ ? (*fused_)(events.reshape({-1, events.size(-1)}), leaves)
                        .view(events.sizes().slice(0, static_cast<std::size_t>(events.dim() - 1)))
                  : judged(leaves, events);
  };
  const env::Events constant = input.events.detached();
  const torch::Tensor real = judge(input.real), synthetic = judge(input.synthetic.detach());
  if (objective_.compares_pairs()) {
    const torch::Tensor loss = objective_.pairs(real.view_as(synthetic), synthetic, constant);
    (loss * input.share).backward({}, {}, false, leaves.tensors);
    return {told(loss), told(loss), {}};
  }
  const torch::Tensor loss_real = objective_.real(real);
  const torch::Tensor loss_synthetic = objective_.synthetic(synthetic, constant);
  ((loss_real + loss_synthetic) * input.share).backward({}, {}, false, leaves.tensors);
  return {told(loss_real), told(loss_synthetic), {}};
}

// Each event's slope is its own, so that passes which know the loss need none of it.
Discriminator::Losses Discriminator::learn_known(const DiscriminatorInput& input,
                                                 nn::Leaves& leaves) const {
  torch::NoGradGuard no_grad;
  const auto learn = [&](Side side, const torch::Tensor& events) {
    nn::KnownLoss loss = objective_.known(side);
    loss.factor =
        input.share * static_cast<double>(events.size(-1)) / static_cast<double>(events.numel());
    return fused_->learn(events, loss, leaves);
  };
  return {
      told(objective_.real(learn(Side::real, input.real))),
      told(objective_.synthetic(learn(Side::synthetic, input.synthetic), input.events.detached())),
      {}};
}

// A pair's slopes need both its logits, so measured events are evaluated once more, beforehand.
Discriminator::Losses Discriminator::learn_fused(const DiscriminatorInput& input,
                                                 const torch::Tensor& shares, nn::Leaves& leaves,
                                                 torch::Tensor* scores) const {
  const torch::Tensor synthetic_input = scores ? input.synthetic : input.synthetic.detach();
  const std::int64_t rows = input.real.size(0);
  const std::int64_t synthetic_rows = synthetic_input.numel() / synthetic_input.size(-1);
  const bool pairs = objective_.compares_pairs();
  double loss_real = 0, loss_synthetic = 0;
  torch::Tensor partners;
  if (pairs)
    partners = logits(input.real);
  else
    fused_->learn(input.real,
                  slopes_of(objective_, {Side::real, {}, {}, rows, input.share}, loss_real),
                  leaves);
  const torch::Tensor synthetic = fused_->learn(
      synthetic_input,
      slopes_of(objective_, {Side::synthetic, partners, shares, synthetic_rows, input.share},
                loss_synthetic),
      leaves);
  if (pairs)
    fused_->learn(input.real,
                  slopes_of(objective_, {Side::real, synthetic.detach(), shares, rows, input.share},
                            loss_real),
                  leaves);
  if (scores) *scores = pairs ? synthetic - partners.view_as(synthetic) : synthetic;
  return {torch::tensor(loss_real, torch::kFloat64),
          torch::tensor(loss_synthetic, torch::kFloat64),
          {}};
}

void Discriminator::state(nn::StateList& list, const std::string& name) {
  list.part(name, replica_);
  list.part(name + "_update", *rule_);
  if (spectral_norm_) list.part(name + "_spectral_norm", *spectral_norm_);
}

}  // namespace sagips::optim
