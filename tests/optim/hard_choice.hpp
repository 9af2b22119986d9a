#pragma once
#include "sagips/env/environment.hpp"

namespace sagips::testing {

/// A simulator that chooses: a share of the events is background, at a place of its own; signal is
/// normal around `place`. What belongs to the fraction changes in jumps.
/// shape: [samples, 2] (fraction, place) -> [samples, events, 1]
struct HardChoice {
  torch::Tensor operator()(torch::Tensor p, env::Noise& noise) const {
    const auto column = [&](std::int64_t i) { return p.select(1, i).unsqueeze(1); };
    const torch::Tensor chosen = noise.uniform() < column(0);
    const torch::Tensor normal = noise.normal();
    return torch::where(chosen, -10 + normal, column(1) + normal).unsqueeze(2);
  }
};

inline env::Environment hard_choice(std::int64_t events, std::uint64_t seed) {
  env::Parameter fraction, place;
  fraction.name = "fraction";
  fraction.truth = 0.2;
  place.name = "place";
  place.low = -2;
  place.high = 4;
  place.truth = 1;
  env::Environment environment;
  environment.parameters = env::ParameterSet({fraction, place});
  const env::Pipeline pipeline{HardChoice{}};
  environment.channels.push_back({"events",
                                  pipeline,
                                  env::toy_data(pipeline, environment.parameters.truth(), events,
                                                {"x"}, core::RandomStream(seed, "hard choice")),
                                  {},
                                  std::nullopt});
  return environment;
}

}  // namespace sagips::testing
