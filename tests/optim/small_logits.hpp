#pragma once
#include "sagips/env/events.hpp"

namespace sagips::testing {

/// Logits whose sigmoids are 0.5, 0.75, 0.2, 0.9.
inline torch::Tensor logits() {
  return torch::logit(torch::tensor({{0.5, 0.75}, {0.2, 0.9}}, torch::kFloat64));
}

inline env::Events plain_events(std::int64_t samples, std::int64_t events) {
  env::Events made;
  made.values = torch::zeros({samples, events, 1});
  return made;
}

}  // namespace sagips::testing
