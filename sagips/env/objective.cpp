#include "sagips/env/objective.hpp"

#include <algorithm>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/objectives/cross_entropy.hpp"
#include "sagips/env/objectives/least_squares.hpp"

namespace sagips::env {

namespace {

constexpr double least_weight = 1e-12;  // of a sample; below it the events count as vanished
constexpr double sure_logit = 5;        // a discriminator that is sure, to 0.7 %
constexpr double least_divisor = 1e-3;  // of printed losses

}  // namespace

core::Registry<AdversarialLoss> adversarial_losses() {
  core::Registry<AdversarialLoss> losses("objective.loss");
  losses.add("least_squares", {least_squares, least_squares_of_many});
  losses.add("cross_entropy", {cross_entropy, cross_entropy_of_many});
  return losses;
}

void AdversarialObjective::Config::fields(core::FieldList& list) {
  list.add_choice(
      "loss", adversarial_losses().names(), [this] { return loss; },
      [this](const std::string& chosen) { loss = chosen; },
      "loss of the discriminator's output (SAGIPS paper's code: least_squares)");
  list.add("label_real", label_real, "discriminator's label of measured events",
           core::Range::between(0, 1));
  list.add("label_synthetic", label_synthetic, "discriminator's label of synthetic events",
           core::Range::between(0, 1));
  list.add("label_generator", label_generator, "label the generator wants its events to get",
           core::Range::between(0, 1));
  list.choice("reference_terms", reference_terms,
              {{"none", ReferenceTerms::none},
               {"per_sample", ReferenceTerms::per_sample},
               {"batch_mean", ReferenceTerms::batch_mean}},
              "adds squared distances of the predicted reference numbers (norms) from the data's");
  list.add("reference_weight", reference_weight, "factor of the reference terms",
           core::Range::at_least(0));
}

AdversarialObjective::AdversarialObjective(Config config, std::map<std::string, double> reference)
    : config_(std::move(config)),
      loss_(adversarial_losses().get(config_.loss, "objective.loss")),
      reference_(std::move(reference)) {
  if (config_.label_real == config_.label_synthetic)
    throw core::ConfigError(
        "objective", core::text("label_real and label_synthetic are both ", config_.label_real,
                                " (the discriminator would learn to tell nothing). Set them apart, "
                                "such as 1 and 0."));
  for (const double label : {config_.label_real, config_.label_synthetic, config_.label_generator})
    equilibria_[label] = equilibrium(label);
  const torch::Tensor sure = torch::tensor({-sure_logit, sure_logit}, torch::kFloat64);
  lost_event_ = loss_.value(sure, config_.label_generator).max().item<double>();
}

torch::Tensor AdversarialObjective::real(const torch::Tensor& logits) const {
  return loss_.value(logits, config_.label_real).mean();
}

torch::Tensor AdversarialObjective::synthetic(const torch::Tensor& logits,
                                              const Events& events) const {
  const torch::Tensor loss = loss_.value(logits, config_.label_synthetic);
  const torch::Tensor shares = event_shares(events);
  return shares.defined() ? (loss * shares).sum() : loss.mean();
}

torch::Tensor AdversarialObjective::event_shares(const Events& events) const {
  const torch::Tensor weights = events.effective_weights();
  if (!weights.defined()) return weights;
  const auto samples = static_cast<double>(weights.size(0));
  return weights / (weights.sum(1, true).clamp_min(least_weight) * samples);
}

void AdversarialObjective::evaluate(std::span<const float> logits, double label,
                                    std::span<float> values, std::span<float> slopes) const {
  if (loss_.many) return loss_.many(logits, label, values, slopes);
  torch::AutoGradMode with_gradients(true);
  const auto size = static_cast<std::int64_t>(logits.size());
  const torch::Tensor leaf =
      torch::from_blob(const_cast<float*>(logits.data()), {size}).clone().requires_grad_();
  const torch::Tensor found = loss_.value(leaf, label);
  std::copy_n(found.data_ptr<float>(), size, values.data());
  const torch::Tensor slope = torch::autograd::grad({found.sum()}, {leaf})[0];
  std::copy_n(slope.data_ptr<float>(), size, slopes.data());
}

torch::Tensor AdversarialObjective::generator(const torch::Tensor& logits,
                                              const Events& events) const {
  const torch::Tensor loss = loss_.value(logits, config_.label_generator);
  const torch::Tensor weights = events.effective_weights();
  if (!weights.defined()) return loss.mean();
  const torch::Tensor total = weights.sum(1);
  const torch::Tensor lacking = (least_weight - total).clamp_min(0);
  const torch::Tensor worst = loss.detach().amax(1).clamp_min(lost_event_);
  return (((loss * weights).sum(1) + lacking * worst) / (total + lacking)).mean();
}

torch::Tensor AdversarialObjective::reference(const Events& events) const {
  torch::Tensor sum;
  if (config_.reference_terms == ReferenceTerms::none) return sum;
  for (const auto& [name, number] : events.numbers) {
    const auto known = reference_.find(name);
    if (known == reference_.end()) continue;
    const torch::Tensor term = config_.reference_terms == ReferenceTerms::per_sample
                                   ? (number - known->second).square().mean()
                                   : (number.mean() - known->second).square();
    sum = sum.defined() ? sum + term : term;
  }
  return sum.defined() ? sum * config_.reference_weight : sum;
}

double AdversarialObjective::equilibrium(double label) const {
  const auto known = equilibria_.find(label);
  if (known != equilibria_.end()) return known->second;
  const double loss = loss_.value(torch::zeros({}, torch::kFloat64), label).item<double>();
  return loss < least_divisor ? 1 : loss;
}

}  // namespace sagips::env
