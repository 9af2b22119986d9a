#include "sagips/env/objectives/least_squares.hpp"

namespace sagips::env {

torch::Tensor least_squares(const torch::Tensor& logits, double label) {
  return (torch::sigmoid(logits) - label).square();
}

}  // namespace sagips::env
