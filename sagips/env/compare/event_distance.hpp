#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/random.hpp"
#include "sagips/core/registry.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/compare/event_classifier.hpp"
#include "sagips/env/environment.hpp"

namespace sagips::env {

/// Compares synthetic events with measured ones without a network that learns along: a score of
/// parameters, smallest where both kinds of events are distributed alike.
///
/// Made once for the measured events of a channel. Observables are standardised by the measured
/// events' mean and deviation, so distances have no unit.
struct EventDistance {
  struct Config {
    std::string kind = "energy";
    std::int64_t events = 2048;                    ///< synthetic events of a parameter vector
    std::int64_t measured_events = 10000;          ///< compared with at most; 0: all
    double reference_weight = 1;                   ///< of reference numbers beside the events
    std::vector<double> bandwidths = {0.5, 1, 2};  ///< mmd, times the median distance
    std::int64_t projections = 50;                 ///< sliced_wasserstein
    double power = 2;                              ///< sliced_wasserstein
    EventClassifier::Config classifier{};          ///< classifier

    void fields(core::FieldList& list);
  };

  /// The score of each sample. Weights and masks count; a sample whose events (almost) vanish
  /// scores `score_of_no_events`, with a gradient back to more weight.
  /// shape: physical [samples, parameters], events of as many samples -> [samples], float64;
  ///        differentiable by both
  std::function<torch::Tensor(const torch::Tensor& physical, const Events& synthetic)> score;
  /// false: the score is a function of the parameters alone, and no events need be made.
  bool uses_events = true;
  double weight = 1;  ///< what it counts beside those of other channels
};

/// The score of a sample without events: larger than that of events within some deviations.
constexpr double score_of_no_events = 100;

using EventDistanceMaker = std::function<EventDistance(
    const EventDistance::Config& config, const Channel& channel, const core::RandomStream& stream)>;

/// classifier, energy, likelihood, mmd, sliced_wasserstein.
core::Registry<EventDistanceMaker> event_distances();

/// The distance that a config names.
/// throws: ConfigError when the channel lacks what it needs (a density)
EventDistance make_event_distance(const EventDistance::Config& config, const Channel& channel,
                                  const core::RandomStream& stream);

/// Walks over the samples of synthetic events and applies a score to the events of each.
/// shape: score: values [events, observables], shares [events] float64 that sum to 1 -> []; result
///        [samples]
torch::Tensor score_samples(const Events& synthetic,
                            const std::function<torch::Tensor(const torch::Tensor& values,
                                                              const torch::Tensor& shares)>& score);

}  // namespace sagips::env
