// The stages of python_stages.py in C++.
#include "sagips/env/outside/plugin.hpp"

namespace {

struct Decay {
  torch::Tensor operator()(torch::Tensor lifetime, sagips::env::Noise& noise) const {
    return (lifetime * -torch::log(noise.uniform()) + 0.3 * noise.normal()).unsqueeze(2);
  }
};

struct Smear {
  torch::Tensor operator()(torch::Tensor events, sagips::env::Noise& noise) const {
    return events + 0.3 * noise.normal().unsqueeze(2);
  }
};

}  // namespace

SAGIPS_PLUGIN(stages) {
  stages.add<Decay>("decay", "times of exponential decays");
  stages.add<Smear>("smear", "a clock");
}
