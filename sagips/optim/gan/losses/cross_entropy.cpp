#include "sagips/optim/gan/losses/cross_entropy.hpp"

#include <algorithm>
#include <cmath>

namespace sagips::optim {

// -l ln s(x) - (1 - l) ln(1 - s(x)) = softplus(x) - l x
torch::Tensor cross_entropy(const torch::Tensor& logits, double label) {
  return torch::softplus(logits) - logits * label;
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

torch::Tensor saturating(const torch::Tensor& logits, double) { return -torch::softplus(logits); }

void saturating_of_many(std::span<const float> logits, double, std::span<float> values,
                        std::span<float> slopes) {
  cross_entropy_of_many(logits, 0, values, slopes);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    values[i] = -values[i];
    slopes[i] = -slopes[i];
  }
}

}  // namespace sagips::optim
