#include "sagips/optim/gan/adversarial_loss.hpp"

#include <algorithm>
#include <cmath>

namespace sagips::optim {

namespace {

/// (sigmoid(logit) - label)^2: smooth gradients where cross entropy saturates.
///
/// shape:  logits [...] -> [...]
/// source: Mao et al., ICCV 2017; the authors' tool kit applies it to a sigmoid output
torch::Tensor least_squares(const torch::Tensor& logits, double label) {
  return (torch::sigmoid(logits) - label).square();
}

// the slope is 2 (s - l) s (1 - s); s and 1 - s each from e^-|x|, so that neither loses digits
void least_squares_of_many(std::span<const float> logits, double label, std::span<float> values,
                           std::span<float> slopes) {
  const auto wanted = static_cast<float>(label);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float small = std::exp(-std::abs(logits[i]));
    const float above = 1.0F / (1.0F + small), below = small * above;
    const float off = (logits[i] < 0 ? below : above) - wanted;
    values[i] = off * off;
    slopes[i] = 2 * off * above * below;
  }
}

/// -label ln s - (1 - label) ln(1 - s) with s = sigmoid(logit), evaluated on the logit so that it
/// never overflows.
///
/// shape:  logits [...] -> [...]
/// source: Goodfellow et al., NeurIPS 2014, eq. (1); generator label 1 is its non-saturating form
torch::Tensor cross_entropy(const torch::Tensor& logits, double label) {
  return torch::softplus(logits) - logits * label;  // -l ln s(x) - (1 - l) ln(1 - s(x))
}

// the slope is s(x) - l
void cross_entropy_of_many(std::span<const float> logits, double label, std::span<float> values,
                           std::span<float> slopes) {
  const auto wanted = static_cast<float>(label);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float x = logits[i], small = std::exp(-std::abs(x));  // softplus without overflow
    values[i] = std::max(x, 0.0F) + std::log1p(small) - wanted * x;
    slopes[i] = (x < 0 ? small : 1.0F) / (1.0F + small) - wanted;
  }
}

/// ln(1 - s) = -softplus(logit), what the generator minimises in the original game, whatever the
/// label. Its slope fades where the discriminator is sure that the events are synthetic.
///
/// shape:  logits [...] -> [...]
/// source: Goodfellow et al., NeurIPS 2014, eq. (1)
torch::Tensor saturating(const torch::Tensor& logits, double) { return -torch::softplus(logits); }

void saturating_of_many(std::span<const float> logits, double, std::span<float> values,
                        std::span<float> slopes) {
  cross_entropy_of_many(logits, 0, values, slopes);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    values[i] = -values[i];
    slopes[i] = -slopes[i];
  }
}

/// max(0, 1 - z) with z = (2 label - 1) logit: nothing for an event beyond the margin of 1.
///
/// shape:  logits [...] -> [...]
/// source: Lim and Ye, arXiv 1705.02894, eq. (3); Miyato et al., ICLR 2018, eq. (16)
torch::Tensor hinge(const torch::Tensor& logits, double label) {
  return torch::relu(1 - logits * (2 * label - 1));
}

void hinge_of_many(std::span<const float> logits, double label, std::span<float> values,
                   std::span<float> slopes) {
  const auto sign = static_cast<float>(2 * label - 1);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float lacking = 1 - sign * logits[i];
    values[i] = std::max(lacking, 0.0F);
    slopes[i] = lacking > 0 ? -sign : 0.0F;
  }
}

/// (1 - 2 label) logit: -logit for label 1, logit for label 0.
///
/// shape:  logits [...] -> [...]
/// source: Arjovsky et al., arXiv 1701.07875, eq. (2), where the logit is called the critic
torch::Tensor linear(const torch::Tensor& logits, double label) { return logits * (1 - 2 * label); }

void linear_of_many(std::span<const float> logits, double label, std::span<float> values,
                    std::span<float> slopes) {
  const auto slope = static_cast<float>(1 - 2 * label);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    values[i] = slope * logits[i];
    slopes[i] = slope;
  }
}

/// A term for one label, whatever label is given.
LossTerm fixed(const LossTerm& term, double label) {
  return {[term, label](const torch::Tensor& logits, double) { return term.value(logits, label); },
          [term, label](std::span<const float> logits, double, std::span<float> values,
                        std::span<float> slopes) { term.many(logits, label, values, slopes); },
          term.known, label};
}

}  // namespace

core::Registry<AdversarialLoss> adversarial_losses() {
  using Labels = AdversarialLoss::Labels;
  using Known = nn::KnownLoss::Kind;
  const LossTerm squares{least_squares, least_squares_of_many, Known::least_squares};
  const LossTerm entropy{cross_entropy, cross_entropy_of_many, Known::cross_entropy};
  const LossTerm line{linear, linear_of_many, Known::linear}, corner{hinge, hinge_of_many};
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
