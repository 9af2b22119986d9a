#include "sagips/optim/gan/adversarial_loss.hpp"

#include "sagips/optim/gan/losses/cross_entropy.hpp"
#include "sagips/optim/gan/losses/hinge.hpp"
#include "sagips/optim/gan/losses/least_squares.hpp"
#include "sagips/optim/gan/losses/linear.hpp"

namespace sagips::optim {

namespace {

/// A term for one label, whatever label is given.
LossTerm fixed(const LossTerm& term, double label) {
  return {[term, label](const torch::Tensor& logits, double) { return term.value(logits, label); },
          [term, label](std::span<const float> logits, double, std::span<float> values,
                        std::span<float> slopes) { term.many(logits, label, values, slopes); }};
}

}  // namespace

core::Registry<AdversarialLoss> adversarial_losses() {
  using Labels = AdversarialLoss::Labels;
  const LossTerm squares{least_squares, least_squares_of_many};
  const LossTerm entropy{cross_entropy, cross_entropy_of_many};
  const LossTerm line{linear, linear_of_many}, corner{hinge, hinge_of_many};
  const LossTerm raises = fixed(line, 1), lowers = fixed(line, 0);

  core::Registry<AdversarialLoss> losses("objective.loss");
  losses.add("least_squares", {squares, squares, squares, Labels::of_all});
  losses.add("cross_entropy", {entropy, entropy, entropy, Labels::of_all});
  losses.add("minimax",
             {entropy, entropy, {saturating, saturating_of_many}, Labels::of_the_discriminator});
  losses.add("non_saturating", {entropy, entropy, fixed(entropy, 1), Labels::of_the_discriminator});
  losses.add("logit", {entropy, entropy, raises, Labels::of_the_discriminator});
  losses.add("hinge", {fixed(corner, 1), fixed(corner, 0), raises});
  losses.add(
      "wasserstein",
      {.real = raises, .synthetic = lowers, .generator = raises, .needs_bounded_slope = true});
  losses.add("relativistic", {.real = fixed(entropy, 1),
                              .synthetic = {},
                              .generator = fixed(entropy, 1),
                              .compares_pairs = true});
  return losses;
}

}  // namespace sagips::optim
