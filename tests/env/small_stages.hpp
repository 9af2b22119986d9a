#pragma once

#include "sagips/data/torch.hpp"
#include "sagips/env/events.hpp"
#include "sagips/env/noise/noise.hpp"

namespace sagips::testing {

using env::Events;
using env::Noise;

/// What a user writes: one call operator on a tensor. [samples, 2] -> [samples, events, 1]
struct Gauss {
  torch::Tensor operator()(torch::Tensor p, Noise& noise) const {
    const auto column = [&](std::int64_t i) { return p.select(1, i).unsqueeze(1); };
    return (column(0) + column(1) * noise.normal()).unsqueeze(2);
  }
};

/// Adds one number a sample, and has a form of its own for inference.
struct WithNumber {
  Events operator()(Events events, Noise&) const {
    events.numbers["sum"] = events.values.sum(1);
    return events;
  }
  Events infer(Events events, Noise&) const {
    events.numbers["sum"] = events.values.sum(1) * 10;
    return events;
  }
  std::string name() const { return "with_number"; }
};

struct Shift {
  double by = 1;
  torch::Tensor operator()(torch::Tensor events, Noise&) const { return events + by; }
  torch::Tensor infer(torch::Tensor events, Noise&) const { return events + 10 * by; }
};

}  // namespace sagips::testing
