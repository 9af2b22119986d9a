#include "sagips/optim/gan/objective.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::optim {

namespace {

constexpr double least_weight = 1e-12;  // of a sample; below it the events count as vanished
constexpr double sure_logit = 5;        // a discriminator that is sure, to 0.7 %
constexpr double least_divisor = 1e-3;  // of printed losses

void evaluate_term(const LossTerm& term, double label, std::span<const float> logits,
                   std::span<float> values, std::span<float> slopes) {
  if (term.many) return term.many(logits, label, values, slopes);
  torch::AutoGradMode with_gradients(true);
  const auto size = static_cast<std::int64_t>(logits.size());
  const torch::Tensor leaf =
      torch::from_blob(const_cast<float*>(logits.data()), {size}).clone().requires_grad_();
  const torch::Tensor found = term.value(leaf, label);
  std::copy_n(found.data_ptr<float>(), size, values.data());
  const torch::Tensor slope = torch::autograd::grad({found.sum()}, {leaf})[0];
  std::copy_n(slope.data_ptr<float>(), size, slopes.data());
}

}  // namespace

void AdversarialObjective::Config::fields(core::FieldList& list) {
  list.add_choice(
      "loss", adversarial_losses().names(), [this] { return loss; },
      [this](const std::string& chosen) { loss = chosen; },
      "the game of the two networks (SAGIPS paper's code: least_squares); which_objective.md has "
      "the formulas");
  list.add("label_real", label_real,
           "discriminator's label of measured events, for losses with labels",
           core::Range::between(0, 1));
  list.add("label_synthetic", label_synthetic,
           "discriminator's label of synthetic events, for losses with labels",
           core::Range::between(0, 1));
  list.add("label_generator", label_generator,
           "label the generator wants its events to get, for least_squares and cross_entropy",
           core::Range::between(0, 1));
  list.choice("reference_terms", reference_terms,
              {{"none", ReferenceTerms::none},
               {"per_sample", ReferenceTerms::per_sample},
               {"batch_mean", ReferenceTerms::batch_mean}},
              "adds squared distances of the predicted reference numbers (norms) from the data's");
  list.add("reference_weight", reference_weight, "factor of the reference terms",
           core::Range::at_least(0));
  core::needs(list, reference_terms != ReferenceTerms::none, "reference_terms",
              {"reference_weight"});
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
  check_labels();
  for (const Side side : {Side::real, Side::synthetic, Side::generator})
    equilibria_[static_cast<std::size_t>(side)] = size_at_rest(side);
  const torch::Tensor sure = torch::tensor({-sure_logit, sure_logit}, torch::kFloat64);
  lost_event_ = losses(Side::generator, sure).max().item<double>();
}

void AdversarialObjective::check_labels() const {
  using Labels = AdversarialLoss::Labels;
  const Config plain;
  const bool others_are_moved =
      config_.label_real != plain.label_real || config_.label_synthetic != plain.label_synthetic;
  const bool generators_is_moved = config_.label_generator != plain.label_generator;
  if ((loss_.labels == Labels::none && others_are_moved) ||
      (loss_.labels != Labels::of_all && generators_is_moved))
    throw core::ConfigError(
        "objective",
        core::text("loss=", config_.loss, " knows no ",
                   loss_.labels == Labels::none ? "labels" : "label of the generator",
                   " (what is set would change nothing). Leave it alone, or use cross_entropy."));
}

double AdversarialObjective::label(Side side) const {
  return side == Side::real        ? config_.label_real
         : side == Side::synthetic ? config_.label_synthetic
                                   : config_.label_generator;
}

torch::Tensor AdversarialObjective::real(const torch::Tensor& logits) const {
  return losses(Side::real, logits).mean();
}

torch::Tensor AdversarialObjective::synthetic(const torch::Tensor& logits,
                                              const env::Events& events) const {
  const torch::Tensor loss = losses(Side::synthetic, logits);
  const torch::Tensor shares = event_shares(events);
  return shares.defined() ? (loss * shares).sum() : loss.mean();
}

torch::Tensor AdversarialObjective::pairs(const torch::Tensor& real, const torch::Tensor& synthetic,
                                          const env::Events& events) const {
  const torch::Tensor loss = losses(Side::real, real - synthetic);
  const torch::Tensor shares = event_shares(events);
  return shares.defined() ? (loss * shares).sum() : loss.mean();
}

torch::Tensor AdversarialObjective::event_shares(const env::Events& events) const {
  torch::Tensor weights = events.effective_weights();
  if (!weights.defined()) return weights;
  const auto samples = static_cast<double>(weights.size(0));
  return weights / (weights.sum(1, true).clamp_min(least_weight) * samples);
}

void AdversarialObjective::evaluate(Side side, std::span<const float> logits,
                                    std::span<const float> partners, std::span<float> values,
                                    std::span<float> slopes) const {
  if (!compares_pairs())
    return evaluate_term(loss_.term(side), label(side), logits, values, slopes);
  // one loss of the difference, seen from either end; the generator's own is of the other sign
  const bool is_minus = side == Side::synthetic;
  const LossTerm& term = loss_.term(is_minus ? Side::real : side);
  thread_local std::vector<float> differences;
  differences.resize(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i)
    differences[i] = is_minus ? partners[i] - logits[i] : logits[i] - partners[i];
  evaluate_term(term, label(side), differences, values, slopes);
  if (is_minus)
    for (float& slope : slopes) slope = -slope;
}

nn::KnownLoss AdversarialObjective::known(Side side) const {
  const LossTerm& term = loss_.term(side);
  return {term.known, term.label.value_or(label(side))};
}

torch::Tensor AdversarialObjective::generator(const torch::Tensor& logits,
                                              const env::Events& events) const {
  const torch::Tensor loss = losses(Side::generator, logits);
  const torch::Tensor weights = events.effective_weights();
  if (!weights.defined()) return loss.mean();
  const torch::Tensor total = weights.sum(1);
  const torch::Tensor lacking = (least_weight - total).clamp_min(0);
  const torch::Tensor worst = loss.detach().amax(1).clamp_min(lost_event_);
  return (((loss * weights).sum(1) + lacking * worst) / (total + lacking)).mean();
}

torch::Tensor AdversarialObjective::reference(const env::Events& events) const {
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

double AdversarialObjective::size_at_rest(Side side) const {
  if (compares_pairs() && side == Side::synthetic) return size_at_rest(Side::real);
  const double loss = losses(side, torch::zeros({}, torch::kFloat64)).item<double>();
  return std::abs(loss) < least_divisor ? 1 : std::abs(loss);
}

}  // namespace sagips::optim
