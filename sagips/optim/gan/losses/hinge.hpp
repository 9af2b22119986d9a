#pragma once
#include <span>

#include "sagips/data/torch.hpp"

namespace sagips::optim {

/// max(0, 1 - z) with z = (2 label - 1) logit: nothing for an event beyond the margin of 1.
///
/// shape:  logits [...] -> [...]
/// source: Lim and Ye, arXiv 1705.02894, eq. (3); Miyato et al., ICLR 2018, eq. (16)
torch::Tensor hinge(const torch::Tensor& logits, double label);
void hinge_of_many(std::span<const float> logits, double label, std::span<float> values,
                   std::span<float> slopes);

}  // namespace sagips::optim
