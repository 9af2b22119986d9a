#include "sagips/env/stages/event_filter.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

using core::ConfigError;
using core::text;

void EventFilter::Config::fields(core::FieldList& list) {
  list.add("enabled", enabled, "whether events pass through the filter");
  list.add("low", low, "lower edge of the box, one an observable");
  list.add("high", high, "upper edge of the box, one an observable");
  list.add("steepness", steepness, "k of the soft edge, per unit of the observable",
           core::Range::positive());
  list.add("shift", shift, "least weight of an event in the soft form", core::Range::between(0, 1));
  list.choice("training", training, {{"soft", Training::soft}, {"resample", Training::resample}},
              "training form: smooth weights, or a hard cut and drawing again");
}

EventFilter::EventFilter(Config config, std::int64_t observables) : config_(std::move(config)) {
  const auto count = static_cast<std::size_t>(observables);
  if (config_.low.size() != count || config_.high.size() != count)
    throw ConfigError("filter", text("low and high have ", config_.low.size(), " and ",
                                     config_.high.size(), " numbers for ", observables,
                                     observables == 1 ? " observable" : " observables",
                                     " (2 where they are not said). Give one an observable."));
  for (std::size_t i = 0; i < count; ++i)
    if (!(config_.low[i] < config_.high[i]))
      throw ConfigError("filter", text("the box is empty in observable ", i, " (", config_.low[i],
                                       " .. ", config_.high[i], "). Set low below high."));
  low_ = Constant(torch::tensor(config_.low, torch::kFloat64));
  high_ = Constant(torch::tensor(config_.high, torch::kFloat64));
}

void EventFilter::check(const torch::Tensor& values) const {
  const auto observables = static_cast<std::int64_t>(config_.low.size());
  if (values.dim() != 3 || values.size(2) != observables)
    throw core::ShapeError(
        name(),
        text("gets shape ", values.sizes(), " from the stage before it, expected [samples, ",
             "events, ", observables, "]. ",
             values.dim() != 3 ? "Let that stage give its observables in a last dimension, "
                                 "also a single one, as values[:, :, None] does."
                               : "Give the box one edge an observable."));
}

torch::Tensor EventFilter::inside(const torch::Tensor& values) const {
  return ((values >= low_.like(values)) & (values <= high_.like(values))).all(2);
}

Events EventFilter::soft(Events events) const {
  torch::Tensor weight;
  for (std::size_t i = 0; i < config_.low.size(); ++i) {
    const torch::Tensor x = events.values.select(2, static_cast<std::int64_t>(i));
    const torch::Tensor edge = torch::sigmoid((x - config_.low[i]) * config_.steepness) *
                               torch::sigmoid((config_.high[i] - x) * config_.steepness);
    weight = weight.defined() ? weight * edge : edge;
  }
  weight = weight * (1 - config_.shift) + config_.shift;
  events.weights = events.weights ? *events.weights * weight : weight;
  return events;
}

Events EventFilter::resample(Events events, Noise& noise) const {
  torch::Tensor survives = inside(events.values);
  if (events.mask) survives = survives & *events.mask;
  const torch::Tensor order = torch::argsort(survives.to(torch::kInt8), /*stable=*/true, 1,
                                             /*descending=*/true);
  const torch::Tensor count = survives.sum(1, true);
  const torch::Tensor chosen =
      (noise.uniform() * count).to(torch::kInt64).minimum((count - 1).clamp_min(0));
  const torch::Tensor row = order.gather(1, chosen);
  events.values = events.values.gather(1, row.unsqueeze(2).expand_as(events.values));
  if (events.weights) events.weights = events.weights->gather(1, row);
  // a sample without any survivor has nothing to draw from
  events.mask = (count > 0).expand_as(survives);
  return events;
}

Events EventFilter::operator()(Events events, Noise& noise) const {
  check(events.values);
  return config_.training == Training::soft ? soft(std::move(events))
                                            : resample(std::move(events), noise);
}

Events EventFilter::infer(Events events, Noise&) const {
  check(events.values);
  const torch::Tensor survives = inside(events.values);
  events.mask = events.mask ? *events.mask & survives : survives;
  return events;
}

}  // namespace sagips::env
