#include <algorithm>
#include <memory>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/pipeline.hpp"
#include "sagips/env/product_check.hpp"

namespace sagips::env {

namespace {

using core::ShapeError;
using core::text;

constexpr std::int64_t check_samples = 6;
constexpr std::int64_t check_events = 40;

Noise fresh_noise(std::int64_t events = check_events, const char* purpose = "pipeline check") {
  return {std::make_shared<PhiloxNoise>(core::RandomStream(1, purpose)), check_samples, events};
}

std::string shape_text(const torch::Tensor& tensor) { return text(tensor.sizes()); }

void check_tensor(const std::string& stage, const std::string& what, const torch::Tensor& tensor) {
  if (!tensor.defined())
    throw ShapeError(stage, text("returns no ", what, ". Return a tensor on every path."));
  if (!torch::isfinite(tensor).all().item<bool>())
    throw ShapeError(stage, text("returns ", what,
                                 " with NaN or infinity for parameters inside their ranges. Guard "
                                 "the formula or narrow the ranges."));
}

void check_output(const std::string& stage, const Events& events) {
  check_tensor(stage, "values", events.values);
  if (!events.values.is_floating_point())
    throw ShapeError(stage, text("returns values of type ", events.values.dtype(),
                                 " (they carry no gradient). Return floating-point values."));
  if (events.values.dim() < 1 || events.values.size(0) != check_samples)
    throw ShapeError(stage, text("returns values of shape ", shape_text(events.values), " for ",
                                 check_samples, " samples. Keep the samples as first dimension."));
  if (events.weights) check_tensor(stage, "weights", *events.weights);
  for (const auto& [name, number] : events.numbers) {
    check_tensor(stage, "the number '" + name + "'", number);
    if (number.dim() != 1 || number.size(0) != check_samples)
      throw ShapeError(stage,
                       text("returns the number '", name, "' with shape ", shape_text(number),
                            ", expected [samples] = [", check_samples, "]."));
  }
}

void check_per_event(const std::string& stage, const std::string& what, const torch::Tensor& tensor,
                     const torch::Tensor& values) {
  if (tensor.dim() != 2 || tensor.size(0) != values.size(0) || tensor.size(1) != values.size(1))
    throw ShapeError(stage, text("returns a ", what, " of shape ", shape_text(tensor),
                                 " beside values of shape ", shape_text(values),
                                 ", expected [samples, events]."));
}

// What to do about an output that is no [samples, events, observables].
std::string shape_advice(const torch::Tensor& values, std::int64_t observables) {
  if (values.dim() == 2 && values.size(1) == check_events)
    return "Give one observable a last dimension, too, as values[:, :, None] does.";
  if (values.dim() == 3 && values.size(2) == check_events && values.size(1) == observables)
    return "Swap the last two dimensions.";
  if (values.dim() == 3 && values.size(2) == observables && values.size(1) < check_events)
    return "Where events are lost, say which: by a mask, NaN, or counts (docs/guides/"
           "lost_events.md).";
  if (values.dim() == 3 && values.size(2) == observables)
    return "Give at most as many events as were asked for.";
  return "Stack the observables in the last dimension.";
}

void check_end(const std::string& stage, const Events& events, std::int64_t observables) {
  const torch::Tensor& values = events.values;
  if (values.dim() != 3 || values.size(1) != check_events || values.size(2) != observables)
    throw ShapeError(stage, text("ends the pipeline with shape ", shape_text(values),
                                 ", expected [samples, events, observables] = [", check_samples,
                                 ", ", check_events, ", ", observables, "] (the data have ",
                                 observables, observables == 1 ? " observable" : " observables",
                                 "). ", shape_advice(values, observables)));
  if (events.weights) check_per_event(stage, "weight", *events.weights, values);
  if (events.mask) check_per_event(stage, "mask", *events.mask, values);
}

// A random sum over everything a stage gives, so that no gradient can cancel by symmetry.
torch::Tensor random_sum(const Events& events) {
  torch::Tensor sum;
  const auto add = [&](const torch::Tensor& tensor) {
    if (!tensor.requires_grad()) return;
    const torch::Tensor flat = tensor.flatten();
    const torch::Tensor factors = torch::sin(
        torch::arange(1, flat.numel() + 1, flat.options().requires_grad(false)) * 12.9898);
    const torch::Tensor term = (flat * factors).sum();
    sum = sum.defined() ? sum + term : term;
  };
  add(events.values);
  if (events.weights) add(*events.weights);
  for (const auto& number : events.numbers) add(number.second);
  return sum;
}

// Which of the free parameters the gradient of this output reaches.
std::vector<bool> reached(const std::string& stage, const Events& events,
                          const torch::Tensor& unit) {
  std::vector<bool> result(static_cast<std::size_t>(unit.size(1)), false);
  const torch::Tensor sum = random_sum(events);
  if (!sum.defined()) return result;
  const auto gradient = torch::autograd::grad({sum}, {unit}, {}, true, false, true)[0];
  if (!gradient.defined()) return result;
  if (!torch::isfinite(gradient).all().item<bool>())
    throw ShapeError(stage,
                     "has a gradient of NaN or infinity (one such number ends a training). "
                     "Guard the formula where its derivative diverges.");
  for (std::int64_t i = 0; i < unit.size(1); ++i)
    result[static_cast<std::size_t>(i)] = gradient.select(1, i).abs().max().item<double>() > 0;
  return result;
}

std::string name_of(const ParameterSet& parameters, std::size_t free_index) {
  return parameters.all()[parameters.free()[free_index]].name;
}

// The first stage chooses what a channel sees of the parameters; none is too few.
std::vector<bool> reached_by_first(const std::string& stage, const Events& events,
                                   const torch::Tensor& unit) {
  std::vector<bool> found = reached(stage, events, unit);
  if (std::none_of(found.begin(), found.end(), [](bool reach) { return reach; }))
    throw ShapeError(
        stage,
        "cuts the gradient: nothing it returns depends differentiably on any free "
        "parameter (nothing could be learned). Use differentiable operations, or say "
        "that it has no gradient: bool differentiable() const { return false; } in C++.");
  return found;
}

bool same(const std::optional<torch::Tensor>& first, const std::optional<torch::Tensor>& second) {
  return first.has_value() == second.has_value() && (!first || torch::equal(*first, *second));
}

bool same_events(const Events& first, const Events& second) {
  const bool same_numbers =
      std::equal(first.numbers.begin(), first.numbers.end(), second.numbers.begin(),
                 second.numbers.end(), [](const auto& one, const auto& other) {
                   return one.first == other.first && torch::equal(one.second, other.second);
                 });
  return same_numbers && same(first.values, second.values) && same(first.weights, second.weights) &&
         same(first.mask, second.mask);
}

void check_repeats(const std::string& stage, const Events& first, const Events& second) {
  if (!same_events(first, second))
    throw ShapeError(stage,
                     "gives other events for the same noise (results would depend on the "
                     "schedule). Take random numbers from Noise alone.");
}

// Whether a free parameter changes no event up to a stage: no gradient is missing there.
bool changes_nothing(const std::vector<Stage>& stages, std::size_t last,
                     const ParameterSet& parameters, const torch::Tensor& unit, std::size_t index) {
  torch::NoGradGuard no_grad;
  const auto events_at = [&](const torch::Tensor& place) {
    Noise noise = fresh_noise();
    Events events;
    events.values = parameters.physical_from_unit(place);
    for (std::size_t i = 0; i <= last; ++i) events = stages[i](std::move(events), noise);
    return events;
  };
  torch::Tensor moved = unit.detach().clone();
  const auto column = static_cast<std::int64_t>(index);
  moved.select(1, column) = 1 - unit.detach().select(1, column);
  return same_events(events_at(unit.detach()), events_at(moved));
}

void check_gradient(const std::vector<Stage>& stages, std::size_t last, const Events& events,
                    const torch::Tensor& unit, const ParameterSet& parameters,
                    std::vector<bool>& before) {
  const std::string& stage = stages[last].name();
  const std::vector<bool> now = reached(stage, events, unit);
  for (std::size_t i = 0; i < now.size(); ++i)
    if (before[i] && !now[i] && !changes_nothing(stages, last, parameters, unit, i))
      throw ShapeError(stage, text("cuts the gradient: nothing it returns depends differentiably "
                                   "on parameter '",
                                   name_of(parameters, i),
                                   "' (it could never be learned). Use differentiable operations, "
                                   "say that it has no gradient (bool differentiable() const { "
                                   "return false; } in C++), or fix it: parameters.",
                                   name_of(parameters, i), ".fixed=VALUE"));
  before = now;
}

// A stage's own exception becomes one line that names the stage.
template <class Call>
Events guarded(const std::string& stage, const Events& input, const Call& call) {
  try {
    return call();
  } catch (const core::Error&) {
    throw;
  } catch (const std::exception& problem) {
    const std::string message = problem.what();
    throw ShapeError(stage, text("fails on input of shape ", shape_text(input.values), ": ",
                                 message.substr(0, message.find('\n'))));
  }
}

// Events that weigh nothing anywhere in the parameters' ranges leave a training without a gradient.
// A few may miss a narrow selection by chance, so more are drawn before a stage is blamed.
void check_weights(const std::vector<Stage>& stages, std::size_t last, const Events& events,
                   const torch::Tensor& parameters) {
  constexpr double least_weight = 1e-12;
  constexpr std::int64_t more_events = 100 * check_events;
  const auto vanish = [](const Events& some) {
    return some.weights && some.weights->sum().item<double>() < least_weight;
  };
  if (!vanish(events)) return;
  torch::NoGradGuard no_grad;
  Noise noise = fresh_noise(more_events);
  Events more;
  more.values = parameters.detach();
  for (std::size_t i = 0; i <= last; ++i) more = stages[i](std::move(more), noise);
  if (vanish(more))
    throw ShapeError(stages[last].name(),
                     text("gives weights that sum to 0 over ", check_samples * more_events,
                          " events inside the parameters' ranges (a training would see no event). "
                          "Widen its selection or narrow the ranges."));
}

// A simulator that seeds its random numbers itself looks perfectly sure of what it says. Events that are
// rarely other ones get a second chance.
void check_changes(const std::vector<Stage>& stages, const torch::Tensor& parameters) {
  torch::NoGradGuard no_grad;
  const auto events_with = [&](Noise noise) {
    Events events;
    events.values = parameters.detach();
    for (const Stage& stage : stages) events = stage.infer(std::move(events), noise);
    return events;
  };
  for (const std::int64_t count : {check_events, 100 * check_events})
    if (!same_events(events_with(fresh_noise(count)),
                     events_with(fresh_noise(count, "other numbers of a pipeline check"))))
      return;
  throw ShapeError(stages.back().name(),
                   text("gives the same ", 100 * check_samples * check_events,
                        " events for other random numbers (errors would not hold the simulation's "
                        "chance, and values would lean towards its one sample). Use the noise that "
                        "it is given, or with `seeds: true` the seeds, in place of a seed of its "
                        "own; where events differ so rarely, narrow the ranges."));
}

torch::Tensor sample_parameters(const ParameterSet& parameters) {
  Noise noise(std::make_shared<PhiloxNoise>(core::RandomStream(2, "pipeline check")), check_samples,
              parameters.free_size());
  return noise.uniform() * 0.9 + 0.05;
}

}  // namespace

PipelineReport Pipeline::check(const ParameterSet& parameters, std::int64_t observables,
                               Reach reach) const {
  if (stages_.empty()) throw ShapeError("pipeline", "has no stage. Give it at least one.");
  PipelineReport report;
  const torch::Tensor unit = sample_parameters(parameters).requires_grad_();
  std::vector<bool> reaches(static_cast<std::size_t>(unit.size(1)), true);
  Noise noise = fresh_noise();
  Noise inference_noise = fresh_noise();
  Events events, inferred;
  const torch::Tensor physical = parameters.physical_from_unit(unit);
  events.values = physical;
  inferred.values = physical.detach();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    const Noise noise_before = noise;
    Noise again = noise;
    const std::int64_t before = noise.dimensions();
    const Events input = events;
    events = guarded(stage.name(), input, [&] { return stage(input, noise); });
    check_output(stage.name(), events);
    check_repeats(stage.name(), events, stage(input, again));
    check_weights(stages_, i, events, physical);
    if (differentiable() && reach != Reach::nothing) {
      if (i == 0 && reach == Reach::some_parameter)
        reaches = reached_by_first(stage.name(), events, unit);
      else
        check_gradient(stages_, i, events, unit, parameters, reaches);
    }
    if (stage.checks_product()) check_product(stage, input.detached(), noise_before);
    inferred = guarded(stage.name() + " (inference form)", inferred,
                       [&] { return stage.infer(inferred, inference_noise); });
    check_output(stage.name() + " (inference form)", inferred);
    report.rows.push_back({stage.name(), events.values.sizes().vec(), noise.dimensions() - before});
  }
  check_end(stages_.back().name(), events, observables);
  check_end(stages_.back().name() + " (inference form)", inferred, observables);
  report.noise_dimensions = noise.dimensions();
  if (report.noise_dimensions > 0) check_changes(stages_, physical);
  report.reaches = reaches;
  for (const auto& number : events.numbers) report.numbers.push_back(number.first);
  return report;
}

}  // namespace sagips::env
