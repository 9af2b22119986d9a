#include "sagips/env/events.hpp"

namespace sagips::env {

torch::Tensor Events::effective_weights() const {
  if (!mask) return weights.value_or(torch::Tensor());
  const torch::Tensor exists = mask->to(values.scalar_type());
  return weights ? *weights * exists : exists;
}

std::pair<torch::Tensor, torch::Tensor> Events::rows() const {
  torch::Tensor flat = values.flatten(0, 1);
  torch::Tensor flat_weights = weights ? weights->flatten() : torch::Tensor();
  if (!mask) return {flat, flat_weights};
  const torch::Tensor exists = mask->flatten();
  return {flat.index({exists}),
          flat_weights.defined() ? flat_weights.index({exists}) : flat_weights};
}

Events Events::detached() const {
  Events copy;
  copy.values = values.detach();
  if (weights) copy.weights = weights->detach();
  copy.mask = mask;
  for (const auto& [name, number] : numbers) copy.numbers[name] = number.detach();
  return copy;
}

}  // namespace sagips::env
