#include "sagips/optim/gan/losses/least_squares.hpp"

#include <cmath>

namespace sagips::optim {

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

}  // namespace sagips::optim
