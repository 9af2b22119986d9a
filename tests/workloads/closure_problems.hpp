#pragma once
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sagips/problem/loaded_data.hpp"
#include "tests/optim/small_environment.hpp"
#include "workloads/proxy1d/proxy1d.hpp"
#include "workloads/resonance/resonance.hpp"

namespace sagips::testing {

using env::Events;
using env::Noise;
using torch::Tensor;

inline Tensor column(const Tensor& p, std::int64_t i) { return p.select(1, i).unsqueeze(1); }

/// Decay times, some of them background that is flat up to 20.
struct Decays {
  Tensor operator()(Tensor p, Noise& noise) const {
    const Tensor chosen = noise.uniform() < column(p, 1);
    const Tensor flat = 20 * noise.uniform();
    return torch::where(chosen, flat, -column(p, 0) * torch::log(noise.uniform())).unsqueeze(2);
  }
};

struct Normal {
  Tensor operator()(Tensor p, Noise& noise) const {
    return (column(p, 0) + column(p, 1) * noise.normal()).unsqueeze(2);
  }
};

/// Seen with an efficiency that rises around 1, as a weight.
struct Efficiency {
  Events operator()(Events events, Noise&) const {
    events.weights = torch::sigmoid((events.values.select(2, 0) - 1) / 0.3);
    return events;
  }
};

/// Seen above 0.8 alone.
struct Acceptance {
  Events operator()(Events events, Noise&) const {
    events.mask = events.values.select(2, 0) > 0.8;
    return events;
  }
};

/// Energies in a near and a far detector, from 1 to 4, each thinned by 1 - s sin^2(d L / E).
struct Oscillations {
  Events operator()(Events parameters, Noise& noise) const {
    const Tensor p = parameters.values;
    const Tensor near = 1 + 3 * noise.uniform(), far = 1 + 3 * noise.uniform();
    const auto survives = [&](const Tensor& energy, double length) {
      return 1 - column(p, 1) * torch::sin(column(p, 0) * length / energy).square();
    };
    parameters.weights = survives(near, 3) * survives(far, 12);
    parameters.values = torch::stack({near, far}, 2);
    return parameters;
  }
};

/// source: Rayner and MacGillivray, Stat. Comput. 12 (2002) 57
struct GAndK {
  Tensor operator()(Tensor p, Noise& noise) const {
    const Tensor z = noise.normal();
    const Tensor skew = 1 + 0.8 * torch::tanh(column(p, 2) * z / 2);
    return (column(p, 0) + column(p, 1) * skew * (1 + z * z).pow(column(p, 3)) * z).unsqueeze(2);
  }
};

/// A problem that makes its data anew for each seed.
struct Problem {
  std::string name;
  std::function<env::Environment(std::uint64_t seed, std::int64_t events)> make;
};

inline Problem own(const std::string& name, const env::Pipeline& pipeline,
                   const std::vector<env::Parameter>& parameters,
                   const std::vector<std::string>& observables) {
  return {name, [=](std::uint64_t seed, std::int64_t events) {
            env::Environment environment;
            environment.parameters = env::ParameterSet(parameters);
            environment.channels.push_back(
                {"events",
                 pipeline,
                 env::toy_data(pipeline, environment.parameters.truth(), events, observables,
                               core::RandomStream(seed, "closures")),
                 {},
                 std::nullopt});
            return environment;
          }};
}

inline Problem shipped(const std::string& name, const problem::WorkloadEntry& entry) {
  const std::shared_ptr<problem::Workload> workload = entry.make();
  return {name, [workload](std::uint64_t seed, std::int64_t events) {
            problem::DataSettings settings;
            settings.toy_events = events;
            return problem::load_data(*workload, settings, seed).all();
          }};
}

inline std::vector<Problem> problems() {
  const std::vector<env::Parameter> normal = {small_parameter("mean", -2, 4, 1.5),
                                              small_parameter("width", 0.1, 2, 0.5)};
  return {own("hard choice", env::Pipeline{Decays{}},
              {small_parameter("lifetime", 0.1, 5, 2.2), small_parameter("fraction", 0, 1, 0.2)},
              {"t"}),
          own("weights", env::Pipeline{Normal{}, Efficiency{}}, normal, {"x"}),
          own("acceptance", env::Pipeline{Normal{}, Acceptance{}}, normal, {"x"}),
          own("oscillations", env::Pipeline{Oscillations{}},
              {small_parameter("difference", 0.5, 3, 1.4), small_parameter("mixing", 0, 1, 0.7)},
              {"near", "far"}),
          own("g-and-k", env::Pipeline{GAndK{}},
              {small_parameter("A", 0, 10, 3), small_parameter("B", 0.1, 5, 1),
               small_parameter("g", 0, 5, 2), small_parameter("k", 0, 2, 0.5)},
              {"x"}),
          shipped("proxy1d", workloads::proxy1d_workload()),
          shipped("resonance", workloads::resonance_workload())};
}

}  // namespace sagips::testing
