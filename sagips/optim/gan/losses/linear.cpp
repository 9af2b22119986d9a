#include "sagips/optim/gan/losses/linear.hpp"

namespace sagips::optim {

torch::Tensor linear(const torch::Tensor& logits, double label) { return logits * (1 - 2 * label); }

void linear_of_many(std::span<const float> logits, double label, std::span<float> values,
                    std::span<float> slopes) {
  const auto slope = static_cast<float>(1 - 2 * label);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    values[i] = slope * logits[i];
    slopes[i] = slope;
  }
}

}  // namespace sagips::optim
