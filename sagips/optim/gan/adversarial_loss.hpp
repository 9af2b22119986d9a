#pragma once
#include <functional>
#include <optional>
#include <span>

#include "sagips/core/registry.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/nn/fused_mlp.hpp"

namespace sagips::optim {

/// Whose loss: the discriminator's on measured or on synthetic events, or the generator's.
enum class Side { real, synthetic, generator };

/// What the discriminator's output for one event costs a side.
struct LossTerm {
  /// shape: logits [...] -> [...]
  std::function<torch::Tensor(const torch::Tensor& logits, double label)> value;
  /// Values and slopes d value / d logit of many. Empty: from `value`, which is slower.
  std::function<void(std::span<const float> logits, double label, std::span<float> values,
                     std::span<float> slopes)>
      many;
  /// The same as passes on a GPU know it; label: empty where it is the one that is given.
  nn::KnownLoss::Kind known = nn::KnownLoss::Kind::none;
  std::optional<double> label{};
};

/// The game that the two networks play.
struct AdversarialLoss {
  /// Which terms read their label.
  enum class Labels { of_all, of_the_discriminator, none };

  LossTerm real, synthetic, generator;
  Labels labels = Labels::none;
  /// Terms are functions of a difference of logits, measured minus synthetic event for the
  /// discriminator (`real`; `synthetic` is not asked) and the other way round for the generator.
  bool compares_pairs = false;
  /// The discriminator's loss has no minimum unless something bounds the slope of its output.
  bool needs_bounded_slope = false;

  const LossTerm& term(Side side) const {
    return side == Side::real ? real : side == Side::synthetic ? synthetic : generator;
  }
};

/// least_squares, cross_entropy, minimax, non_saturating, logit, hinge, wasserstein, relativistic.
///
/// With x the logit of a measured, y of a synthetic event, S = softplus:
///
///   name            discriminator             generator
///   least_squares   (s(x) - 1)^2 + s(y)^2     (s(y) - 1)^2   labels 1, 0, 1 are the defaults
///   cross_entropy   S(-x) + S(y)              S(-y)          labels likewise
///   minimax         S(-x) + S(y)              -S(y)          Goodfellow et al., 2014, eq. (1)
///   non_saturating  S(-x) + S(y)              S(-y)          the same, Sec. 3
///   logit           S(-x) + S(y)              -y             slope of the likelihood, if x is ideal
///   hinge           [1 - x]+ + [1 + y]+       -y             Lim and Ye, arXiv 1705.02894
///   wasserstein     -x + y                    -y             Arjovsky et al., arXiv 1701.07875
///   relativistic    S(-(x - y))               S(-(y - x))    RpGAN, Huang et al., arXiv 2501.05441
core::Registry<AdversarialLoss> adversarial_losses();

}  // namespace sagips::optim
