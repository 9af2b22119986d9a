#include "sagips/optim/gan/losses/hinge.hpp"

#include <algorithm>

namespace sagips::optim {

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

}  // namespace sagips::optim
