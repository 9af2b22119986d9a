#include "sagips/env/compare/event_distance.hpp"

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/env/compare/distances/distances.hpp"

namespace sagips::env {

namespace {

constexpr double least_weight = 1e-12;  // of a sample; below it the events count as vanished

EventRows measured_rows(const EventDistance::Config& config, const Channel& channel,
                        const core::RandomStream& stream) {
  const EventRows all = EventRows::of(channel.training);
  if (all.weights.defined() && all.weights.min().item<double>() < 0)
    throw core::ConfigError("data.weight_column",
                            "some weights are negative, which distance.kind=likelihood alone can "
                            "have. Take that, or solve.method=moments or likelihood.");
  return config.measured_events == 0 ? all : all.at_most(config.measured_events, stream);
}

// A distance that is made from its config, measured events and a stream.
template <class Make>
EventDistanceMaker from_rows(Make make) {
  return [make](const EventDistance::Config& config, const Channel& channel,
                const core::RandomStream& stream) {
    return make(config, measured_rows(config, channel, stream.at_step(0)), stream.at_step(1));
  };
}

}  // namespace

void EventDistance::Config::fields(core::FieldList& list) {
  list.add_choice(
      "kind", event_distances().names(), [this] { return kind; },
      [this](const std::string& chosen) { kind = chosen; },
      "how synthetic events are compared with measured ones; likelihood: exact, where the density "
      "is known");
  list.add("events", events, "synthetic events of a parameter vector",
           core::Range::between(2, 1e8));
  list.add("measured_events", measured_events,
           "measured events compared with at most, drawn once; 0: all; likelihood takes all",
           core::Range::between(0, 1e9));
  list.add("reference_weight", reference_weight,
           "factor of the squared relative deviations of reference numbers (norms)",
           core::Range::at_least(0));
  list.add("bandwidths", bandwidths,
           "mmd: widths of its Gaussian kernels, times the measured events' median distance",
           core::Range::positive());
  list.add("projections", projections, "sliced_wasserstein: random directions; one observable: 1",
           core::Range::between(1, 1e5));
  list.add("power", power, "sliced_wasserstein: p of W_p^p", core::Range::between(1, 8));
  list.group("classifier", classifier, "classifier: the network trained at each parameter vector");
  core::needs(list, kind == "mmd", "kind=mmd", {"bandwidths"});
  core::needs(list, kind == "sliced_wasserstein", "kind=sliced_wasserstein",
              {"projections", "power"});
  core::needs(list, kind == "classifier", "kind=classifier", {"classifier"});
  core::needs(list, kind != "likelihood", "another kind than likelihood", {"measured_events"});
}

core::Registry<EventDistanceMaker> event_distances() {
  core::Registry<EventDistanceMaker> known("distance.kind");
  known.add("classifier", from_rows(distances::classifier));
  known.add("energy", from_rows(distances::energy));
  known.add("likelihood", [](const EventDistance::Config&, const Channel& channel,
                             const core::RandomStream&) { return distances::likelihood(channel); });
  known.add("mmd", from_rows(distances::mmd));
  known.add("sliced_wasserstein", from_rows(distances::sliced_wasserstein));
  return known;
}

EventDistance make_event_distance(const EventDistance::Config& config, const Channel& channel,
                                  const core::RandomStream& stream) {
  return event_distances().get(config.kind, "distance.kind")(config, channel, stream);
}

torch::Tensor score_samples(
    const Events& synthetic,
    const std::function<torch::Tensor(const torch::Tensor& values, const torch::Tensor& shares)>&
        score) {
  const torch::Tensor weights = synthetic.effective_weights();
  std::vector<torch::Tensor> scores;
  for (std::int64_t i = 0; i < synthetic.samples(); ++i) {
    torch::Tensor values = synthetic.values[i].to(torch::kFloat64);
    if (!weights.defined()) {
      const double share = 1.0 / static_cast<double>(values.size(0));
      scores.push_back(score(values, torch::full({values.size(0)}, share, torch::kFloat64)));
      continue;
    }
    torch::Tensor own = weights[i].to(torch::kFloat64);
    if (synthetic.mask) {  // what does not exist may hold anything
      values = values.index({(*synthetic.mask)[i]});
      own = own.index({(*synthetic.mask)[i]});
    }
    if (values.size(0) == 0) {
      scores.push_back(torch::full({}, score_of_no_events, torch::kFloat64));
      continue;
    }
    const torch::Tensor total = own.sum();
    const torch::Tensor lacking = (least_weight - total).clamp_min(0);
    const torch::Tensor found = score(values, own / total.clamp_min(least_weight));
    scores.push_back((found * total + lacking * score_of_no_events) / (total + lacking));
  }
  return torch::stack(scores);
}

}  // namespace sagips::env
