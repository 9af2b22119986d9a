#include "sagips/env/objectives/cross_entropy.hpp"

namespace sagips::env {

// -l ln s(x) - (1 - l) ln(1 - s(x)) = softplus(x) - l x
torch::Tensor cross_entropy(const torch::Tensor& logits, double label) {
  return torch::softplus(logits) - logits * label;
}

}  // namespace sagips::env
