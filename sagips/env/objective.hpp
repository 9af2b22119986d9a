#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>

#include <torch/torch.h>

#include "sagips/core/config.hpp"
#include "sagips/core/registry.hpp"
#include "sagips/env/events.hpp"

namespace sagips::env {

/// Loss of one event's discriminator output against a label.
struct AdversarialLoss {
  /// shape: logits [...] -> [...]
  std::function<torch::Tensor(const torch::Tensor& logits, double label)> value;
  /// Values and slopes d value / d logit of many. Empty: from `value`, which is slower.
  std::function<void(std::span<const float> logits, double label, std::span<float> values,
                     std::span<float> slopes)>
      many;
};

/// least_squares, cross_entropy.
core::Registry<AdversarialLoss> adversarial_losses();

/// How predicted reference numbers (the proxy's norms) enter the generator's loss.
enum class ReferenceTerms {
  none,
  per_sample,  ///< mean over samples of (number - reference)^2, as in the authors' tool kit
  batch_mean,  ///< (mean number - reference)^2: unbiased by the generator's spread, but not
               ///< separable
};

/// Scores synthetic events against measured ones through a discriminator.
///
/// Each mean runs over the events of a parameter sample by weight, then over the samples, so that
/// the score of a batch is the sum of its samples' scores.
///
/// A sample whose events (almost) vanish, in a soft filter say, has no mean. The discriminator
/// learns nothing from it. For the generator the weight that it lacks counts as events that fare
/// worse than any of its own and than an output the discriminator is sure of, so that making events
/// vanish never pays and the gradient leads back to more weight.
class AdversarialObjective {
 public:
  struct Config {
    std::string loss = "least_squares";
    double label_real = 1, label_synthetic = 0, label_generator = 1;
    ReferenceTerms reference_terms = ReferenceTerms::per_sample;
    double reference_weight = 1;

    void fields(core::FieldList& list);
  };
  /// reference: numbers that come with the data set.
  /// throws: ConfigError for an unknown loss, or for one label of measured and synthetic events
  AdversarialObjective(Config config, std::map<std::string, double> reference);

  /// Discriminator's loss on measured events.
  /// shape: logits [rows] -> []
  torch::Tensor real(const torch::Tensor& logits) const;
  /// Discriminator's loss on synthetic events.
  /// shape: logits [samples, events] -> []
  torch::Tensor synthetic(const torch::Tensor& logits, const Events& events) const;
  /// What each event's loss counts in the discriminator's loss on synthetic events.
  /// shape: [samples, events], summing to 1; undefined: all alike
  torch::Tensor event_shares(const Events& events) const;
  /// Losses of single events and their slopes d loss / d logit.
  void evaluate(std::span<const float> logits, double label, std::span<float> values,
                std::span<float> slopes) const;
  /// Generator's adversarial loss.
  /// shape: logits [samples, events] -> []
  torch::Tensor generator(const torch::Tensor& logits, const Events& events) const;
  /// Reference terms of the generator's loss; undefined when there are none.
  torch::Tensor reference(const Events& events) const;

  bool separable() const { return config_.reference_terms != ReferenceTerms::batch_mean; }
  /// Loss of a discriminator that cannot tell (logit 0) for a label: what printed losses are
  /// divided by. 1 where it vanishes (least_squares with a label near 0.5, which the generator's
  /// may well be), so that these are printed as they are.
  double equilibrium(double label) const;
  const Config& config() const { return config_; }

 private:
  Config config_;
  AdversarialLoss loss_;
  std::map<std::string, double> reference_;
  std::map<double, double> equilibria_;  ///< of the labels in use
  double lost_event_ = 0;                ///< least that a generator pays for an event that vanished
};

}  // namespace sagips::env
