#pragma once
#include <string>
#include <vector>

#include "sagips/env/environment.hpp"
#include "sagips/optim/gan/gan.hpp"

namespace sagips::testing {

/// Normal events of two parameters, seen in a unit of its own, with the number "level" = mean +
/// width. shape: [samples, 2] -> [samples, events, 1]
struct GaussEvents {
  double unit = 1;

  env::Events operator()(env::Events parameters, env::Noise& noise) const {
    const torch::Tensor p = std::move(parameters.values);
    const torch::Tensor mean = p.select(1, 0), width = p.select(1, 1);
    parameters.numbers["level"] = (mean + width) * unit;
    parameters.values =
        ((mean.unsqueeze(1) + width.unsqueeze(1) * noise.normal()) * unit).unsqueeze(2);
    return parameters;
  }
};

inline env::Parameter small_parameter(const std::string& name, double low, double high,
                                      double truth) {
  env::Parameter parameter;
  parameter.name = name;
  parameter.low = low;
  parameter.high = high;
  parameter.truth = truth;
  return parameter;
}

inline env::Channel small_channel(const std::string& name, double unit,
                                  const env::ParameterSet& parameters) {
  const env::Pipeline pipeline{GaussEvents{unit}};
  data::Dataset all = env::toy_data(pipeline, parameters.truth(), 2'000, {"x"},
                                    core::RandomStream(1, "small data " + name));
  auto [training, held_out] =
      data::hold_out(all, 0.25, core::RandomStream(1, "small split " + name));
  return {name, pipeline, std::move(training), std::move(held_out), std::nullopt};
}

/// One or two channels: the second sees everything in another unit.
inline env::Environment small_environment(std::size_t channels = 1) {
  env::Environment environment;
  environment.parameters = env::ParameterSet(
      {small_parameter("mean", -2, 4, 1.5), small_parameter("width", 0.1, 2, 0.5)});
  for (std::size_t k = 0; k < channels; ++k)
    environment.channels.push_back(
        small_channel(k == 0 ? "near" : "far", k == 0 ? 1 : 0.1, environment.parameters));
  return environment;
}

inline optim::GanConfig small_gan(
    optim::UpdateOrder order = optim::UpdateOrder::discriminator_first) {
  optim::GanConfig config;
  config.generator.network = {.width = 8, .layers = 2};
  config.generator.noise_dimensions = 3;
  config.discriminator.network = {.width = 8, .layers = 2};
  config.batch = {.samples = 16, .events = 10};
  config.optimizer.order = order;
  config.optimizer.generator.learning_rate = 1e-3;
  config.optimizer.discriminator.learning_rate = 3e-3;
  return config;
}

/// Fills the gradients of a pass from the whole batch in one tile; its losses.
inline std::vector<double> gradients_of(optim::Gan& gan, std::size_t index,
                                        optim::GanBatch& batch) {
  const optim::Pass& pass = gan.passes()[index];
  std::vector<nn::Leaves*> leaves;
  for (const std::size_t step : pass.steps) {
    nn::Replica& replica = *gan.steps()[step].replica;
    replica.zero_gradients();
    leaves.push_back(&replica.leaves());
  }
  pass.prepare(batch, 1);
  const torch::Tensor losses =
      pass.gradients(batch, {.index = 0, .first = 0, .samples = batch.samples}, leaves);
  return {losses.data_ptr<double>(), losses.data_ptr<double>() + losses.numel()};
}

}  // namespace sagips::testing
