// The plug-in of the tests: one stage that works, one with a nested Config.
#include "sagips/env/outside/plugin.hpp"

namespace {

struct Decay {
  double clock = 0.3;
  void fields(sagips::core::FieldList& list) {
    list.add("clock", clock, "resolution [us]", sagips::core::Range::at_least(0));
  }
  /// Decay times of the first parameter; any others change nothing.
  torch::Tensor operator()(torch::Tensor parameters, sagips::env::Noise& noise) const {
    const torch::Tensor lifetime = parameters.narrow(1, 0, 1);
    return (lifetime * -torch::log(noise.uniform()) + clock * noise.normal()).unsqueeze(2);
  }
};

/// Decays and a background that is flat up to 20, in equal numbers, weighted by the second parameter.
struct DecayWithBackground {
  sagips::env::Events operator()(sagips::env::Events parameters, sagips::env::Noise& noise) const {
    const torch::Tensor lifetime = parameters.values.narrow(1, 0, 1),
                        fraction = parameters.values.narrow(1, 1, 1);
    const torch::Tensor background = noise.uniform() < 0.5;
    const torch::Tensor place = noise.uniform();
    parameters.values =
        torch::where(background, 20 * place, -lifetime * torch::log(place)).unsqueeze(2);
    parameters.weights = torch::where(background, fraction, 1 - fraction);
    return parameters;
  }
};

struct Shift {
  struct Config {
    double by = 1;
    void fields(sagips::core::FieldList& list) { list.add("by", by, "how far"); }
  };
  explicit Shift(const Config& config) : by_(config.by) {}
  torch::Tensor operator()(torch::Tensor events, sagips::env::Noise&) const { return events + by_; }

 private:
  double by_;
};

/// An efficiency that falls with time: a weight in either form.
struct Efficiency {
  sagips::env::Events operator()(sagips::env::Events events, sagips::env::Noise&) const {
    events.weights = torch::exp(-events.values.select(2, 0).clamp_min(0) / 2);
    return events;
  }
};

}  // namespace

#ifdef SAGIPS_PRETENDED_BUILD
#undef SAGIPS_BUILD
#define SAGIPS_BUILD SAGIPS_PRETENDED_BUILD
#endif
SAGIPS_PLUGIN(stages) {
  stages.add<Decay>("decay", "times of decays");
  stages.add<DecayWithBackground>("decay_with_background", "times of decays and of background");
  stages.add<Shift>("shift", "moves events");
  stages.add<Efficiency>("efficiency", "weighs events");
}
