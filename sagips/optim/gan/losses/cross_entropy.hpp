#pragma once
#include <span>

#include "sagips/data/torch.hpp"

namespace sagips::optim {

/// -label ln s - (1 - label) ln(1 - s) with s = sigmoid(logit), evaluated on the logit so that it
/// never overflows.
///
/// shape:  logits [...] -> [...]
/// source: Goodfellow et al., NeurIPS 2014, eq. (1); generator label 1 is its non-saturating form
torch::Tensor cross_entropy(const torch::Tensor& logits, double label);
void cross_entropy_of_many(std::span<const float> logits, double label, std::span<float> values,
                           std::span<float> slopes);

/// ln(1 - s) = -softplus(logit), what the generator minimises in the original game, whatever the
/// label. Its slope fades where the discriminator is sure that the events are synthetic.
///
/// shape:  logits [...] -> [...]
/// source: Goodfellow et al., NeurIPS 2014, eq. (1)
torch::Tensor saturating(const torch::Tensor& logits, double label);
void saturating_of_many(std::span<const float> logits, double label, std::span<float> values,
                        std::span<float> slopes);

}  // namespace sagips::optim
