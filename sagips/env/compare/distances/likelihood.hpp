#pragma once
#include "sagips/env/compare/event_distance.hpp"

namespace sagips::env::distances {

/// -ln L of the channel's training events, divided by their number: the most precise comparison
/// where the pipeline's density is known. Needs no synthetic events.
///
/// A parameter that only scales the density is seen by its reference numbers alone.
/// throws: ConfigError when the channel has no density
class Likelihood final : public EventDistance {
 public:
  explicit Likelihood(const Channel& channel);
  torch::Tensor operator()(const torch::Tensor& physical, const Events& synthetic) const override;
  bool uses_events() const override { return false; }
  double weight() const override { return sample_.events(); }

 private:
  Density density_;
  Density::Sample sample_;
};

}  // namespace sagips::env::distances
