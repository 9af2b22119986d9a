#include "sagips/optim/moments/moments_config.hpp"

#include <algorithm>
#include <bit>

namespace sagips::optim {

using core::Range;

void MomentsConfig::simulation_fields(core::FieldList& list) {
  list.choice("noise", noise,
              {{"sobol", NoiseKind::sobol}, {"pseudo_random", NoiseKind::pseudo_random}},
              "random numbers of the simulation; sobol: scrambled quasi-random ones");
  list.add("least_events", least_events,
           "simulated at a parameter vector while few data count; raised to a power of two",
           Range::between(100, 1e8));
  list.add("most_events", most_events,
           "simulated at a parameter vector at most; raised to a power of two",
           Range::between(100, 1e8));
  list.add("repetitions", repetitions,
           "simulations with other random numbers that the last step averages; their scatter "
           "enters the errors",
           Range::between(0, 1000));
  list.add("most_repetitions", most_repetitions,
           "of them, where their scatter is more than a quarter of the errors",
           Range::between(0, 1000));
}

void MomentsConfig::fields(core::FieldList& list) {
  list.group("features", features, "numbers of an event whose means are compared");
  list.choice(
      "jacobian", jacobian,
      {{"differences", Jacobian::differences}, {"automatic", Jacobian::automatic}},
      "derivatives on the way to the minimum: by central differences, which need no gradient "
      "of the pipeline, or by automatic differentiation; errors come from differences");
  list.add("difference", difference,
           "first step of the differences, of a parameter's range; at the end as long as errors "
           "where a slope would be mostly the simulation's chance, shorter where it bends",
           Range{0, 0.1, true, false});
  simulation_fields(list);
  list.choice("weighting", weighting, {{"model", Weighting::model}, {"data", Weighting::data}},
              "whose covariance weighs the features at the end; the model's gives what maximum "
              "likelihood gives, also where the pipeline describes the data badly");
  list.add("reference_error", reference_error, "relative error to which reference numbers are met",
           Range::positive());
  list.add("prior_width", prior_width, "of the logits, while not all data count",
           Range::positive());
  list.add("first_level", first_level, "events that the data count as first",
           Range::between(10, 1e9));
  list.choice("start", start, {{"middle", Start::middle}, {"random", Start::random}},
              "first starting point: the middle of all ranges, or a random one as for later ones");
  list.add("starts", starts, "starting points at most", Range::between(1, 1000));
  list.add(
      "minima", minima,
      "look over all ranges for other solutions that the data allow, from 8 to 64 points, where "
      "no start is given");
}

std::int64_t MomentsConfig::events_for(double data_events) const {
  const auto wanted = static_cast<std::uint64_t>(
      std::clamp(data_events, static_cast<double>(least_events),
                 static_cast<double>(std::max(least_events, most_events))));
  return static_cast<std::int64_t>(std::bit_ceil(wanted));
}

}  // namespace sagips::optim
