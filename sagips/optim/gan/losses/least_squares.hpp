#pragma once
#include <span>

#include "sagips/data/torch.hpp"

namespace sagips::optim {

/// (sigmoid(logit) - label)^2: smooth gradients where cross entropy saturates.
///
/// shape:  logits [...] -> [...]
/// source: Mao et al., ICCV 2017; the authors' tool kit applies it to a sigmoid output
torch::Tensor least_squares(const torch::Tensor& logits, double label);
void least_squares_of_many(std::span<const float> logits, double label, std::span<float> values,
                           std::span<float> slopes);

}  // namespace sagips::optim
