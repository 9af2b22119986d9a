#pragma once
#include <span>

#include "sagips/data/torch.hpp"

namespace sagips::optim {

/// (1 - 2 label) logit: -logit for label 1, logit for label 0.
///
/// shape:  logits [...] -> [...]
/// source: Arjovsky et al., arXiv 1701.07875, eq. (2), where the logit is called the critic
torch::Tensor linear(const torch::Tensor& logits, double label);
void linear_of_many(std::span<const float> logits, double label, std::span<float> values,
                    std::span<float> slopes);

}  // namespace sagips::optim
