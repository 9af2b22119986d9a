#pragma once
#include <array>
#include <map>
#include <span>
#include <string>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/events.hpp"
#include "sagips/optim/gan/adversarial_loss.hpp"

namespace sagips::optim {

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
  /// throws: ConfigError for an unknown loss, one label of measured and synthetic events, or a label
  /// that the loss does not know
  AdversarialObjective(Config config, std::map<std::string, double> reference);

  /// Whether the loss compares pairs of a measured and a synthetic event: `pairs` then
  /// stands in for `real` and `synthetic`, and `generator` wants differences.
  bool compares_pairs() const { return loss_.compares_pairs; }
  /// Discriminator's loss on measured events.
  /// shape: logits [rows] -> []
  torch::Tensor real(const torch::Tensor& logits) const;
  /// Discriminator's loss on synthetic events.
  /// shape: logits [samples, events] -> []
  torch::Tensor synthetic(const torch::Tensor& logits, const env::Events& events) const;
  /// Discriminator's loss on pairs, which count what their synthetic events do.
  /// shape: real, synthetic [samples, events] -> []
  torch::Tensor pairs(const torch::Tensor& real, const torch::Tensor& synthetic,
                      const env::Events& events) const;
  /// What each event's loss counts in the discriminator's loss on synthetic events.
  /// shape: [samples, events], summing to 1; undefined: all alike
  torch::Tensor event_shares(const env::Events& events) const;
  /// Losses of single events and their slopes d loss / d logit.
  /// partners: logits of the other events of the pairs, where the loss compares these
  void evaluate(Side side, std::span<const float> logits, std::span<const float> partners,
                std::span<float> values, std::span<float> slopes) const;
  /// A side's loss of single events as passes on a GPU know it; of kind none: they do not.
  nn::KnownLoss known(Side side) const;
  /// Generator's adversarial loss.
  /// logits: of synthetic events, minus those of their partners where the loss compares pairs
  /// shape: logits [samples, events] -> []
  torch::Tensor generator(const torch::Tensor& logits, const env::Events& events) const;
  /// Reference terms of the generator's loss; undefined when there are none.
  torch::Tensor reference(const env::Events& events) const;

  bool separable() const { return config_.reference_terms != ReferenceTerms::batch_mean; }
  /// Size of a side's loss when the discriminator cannot tell (logit 0): what printed losses are
  /// divided by. 1 where it vanishes (a critic's, or least_squares with a label near 0.5, which the
  /// generator's may well be), so that these are printed as they are.
  double equilibrium(Side side) const { return equilibria_[static_cast<std::size_t>(side)]; }
  /// Whether the discriminator's loss has no minimum unless something bounds its slope.
  bool needs_bounded_slope() const { return loss_.needs_bounded_slope; }
  const Config& config() const { return config_; }

 private:
  void check_labels() const;
  double label(Side side) const;
  double size_at_rest(Side side) const;
  torch::Tensor losses(Side side, const torch::Tensor& logits) const {
    return loss_.term(side).value(logits, label(side));
  }

  Config config_;
  AdversarialLoss loss_;
  std::map<std::string, double> reference_;
  std::array<double, 3> equilibria_{};  ///< of the sides
  double lost_event_ = 0;               ///< least that a generator pays for an event that vanished
};

}  // namespace sagips::optim
