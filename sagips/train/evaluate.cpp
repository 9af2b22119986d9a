#include "sagips/train/evaluate.hpp"

#include <algorithm>
#include <memory>

#include "sagips/env/compare/distance.hpp"

namespace sagips::train {

void EvaluationConfig::fields(core::FieldList& list) {
  list.add("samples", samples, "noise vectors whose predictions are averaged",
           core::Range::between(2, 1e7));
  list.add("events", events, "synthetic events of each, for distances to held-out events",
           core::Range::between(1, 1e7));
  list.add("energy_events", energy_events,
           "events on each side of the energy distance (quadratic cost)",
           core::Range::between(2, 20000));
}

namespace {

std::vector<record::ParameterState> parameter_states(const env::ParameterSet& parameters,
                                                     const torch::Tensor& proposals) {
  const torch::Tensor precise = proposals.to(torch::kFloat64);
  std::vector<record::ParameterState> states;
  for (std::int64_t i = 0; i < parameters.size(); ++i) {
    const env::Parameter& parameter = parameters.all()[static_cast<std::size_t>(i)];
    record::ParameterState state;
    state.name = parameter.name;
    state.unit = parameter.unit;
    state.truth = parameter.truth;
    state.fixed = parameter.fixed.has_value();
    torch::Tensor values = precise.select(1, i);
    if (parameter.periodic) {
      const double period = parameter.high - parameter.low;
      values = values - ((values - values[0]) / period).round() * period;
    }
    state.value = parameter.nearest(values.mean().item<double>(), parameter.middle());
    state.spread = values.std(false).item<double>();
    if (!state.fixed) state.residual = parameter.relative_residual(state.value);  // eq. (6)
    states.push_back(state);
  }
  return states;
}

// Evenly from all of them: a file may be sorted, and synthetic events are, by noise vector.
env::EventRows evenly(const env::EventRows& events, std::int64_t rows, const torch::Tensor& scale) {
  const torch::Tensor order = torch::arange(rows, torch::kInt64) * events.size();
  env::EventRows some = events.select(torch::floor_divide(order, rows));
  some.values = some.values / scale;
  return some;
}

}  // namespace

std::vector<std::string> metric_names(const env::Environment& environment) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < environment.channels.size(); ++k) {
    const data::Dataset &data = environment.channels[k].training,
                        &held_out = environment.channels[k].held_out;
    const std::string suffix = environment.suffix(k);
    if (held_out.values.defined() && held_out.size() > 0) {
      if (k == 0) names.emplace_back("ks_mean");
      for (const std::string& observable : data.observables)
        names.push_back("ks_" + observable + suffix);
      names.push_back("energy" + suffix);
    }
    for (const auto& [number, value] : data.reference)
      names.push_back(number + "_residual" + suffix);
  }
  return names;
}

env::Events Evaluator::synthesise(std::size_t channel, const torch::Tensor& proposals) const {
  const env::Channel& seen = environment_.channels[channel];
  env::Noise noise(std::make_shared<env::PhiloxNoise>(
                       core::RandomStream(seed_, "evaluation events " + seen.name)),
                   proposals.size(0), config_.events);
  return seen.pipeline.infer(proposals, noise);
}

std::pair<torch::Tensor, torch::Tensor> Evaluator::events(std::size_t channel,
                                                          const torch::Tensor& proposals) const {
  return synthesise(channel, proposals).rows();
}

void Evaluator::compare(std::size_t channel, const torch::Tensor& proposals,
                        record::Evaluated& evaluated) const {
  const env::Channel& seen = environment_.channels[channel];
  const std::string suffix = environment_.suffix(channel);
  const env::Events synthetic = synthesise(channel, proposals);
  for (const auto& [name, number] : synthetic.numbers) {
    const auto reference = seen.training.reference.find(name);
    if (reference == seen.training.reference.end()) continue;
    const double mean = number.to(torch::kFloat64).mean().item<double>();
    evaluated.metrics.push_back(
        {name + "_residual" + suffix, (reference->second - mean) / reference->second});
  }
  const env::EventRows events = env::EventRows::of(synthetic),
                       held_out = env::EventRows::of(seen.held_out);
  const bool has_held_out = held_out.values.defined() && held_out.size() > 0;
  if (events.size() == 0 || !has_held_out) return;
  for (std::int64_t i = 0; i < seen.observables(); ++i)
    evaluated.metrics.push_back(
        {"ks_" + seen.training.observables[static_cast<std::size_t>(i)] + suffix,
         env::kolmogorov_smirnov({events.values.select(1, i), events.weights},
                                 {held_out.values.select(1, i), held_out.weights})});
  const torch::Tensor scale = held_out.values.std(0, false).clamp_min(1e-12);
  const std::int64_t rows = std::min({config_.energy_events, events.size(), held_out.size()});
  if (rows > 1)
    evaluated.metrics.push_back(
        {"energy" + suffix,
         env::energy_distance(evenly(events, rows, scale), evenly(held_out, rows, scale))});
}

record::Evaluated Evaluator::parameters(const torch::Tensor& proposals) const {
  record::Evaluated evaluated;
  evaluated.parameters = parameter_states(environment_.parameters, proposals);
  return evaluated;
}

record::Evaluated Evaluator::evaluate(const torch::Tensor& proposals) const {
  torch::NoGradGuard no_grad;
  record::Evaluated evaluated = parameters(proposals);
  for (std::size_t k = 0; k < environment_.channels.size(); ++k) compare(k, proposals, evaluated);
  double sum = 0;
  int count = 0;
  for (const auto& distance : evaluated.metrics) {
    if (distance.name.rfind("ks_", 0) != 0) continue;
    sum += distance.value;
    ++count;
  }
  if (count > 0) evaluated.metrics.push_back({"ks_mean", sum / count});
  return evaluated;
}

}  // namespace sagips::train
