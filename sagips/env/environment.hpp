#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/random.hpp"
#include "sagips/data/dataset.hpp"
#include "sagips/env/densities/density.hpp"
#include "sagips/env/feature.hpp"
#include "sagips/env/parameter.hpp"
#include "sagips/env/pipeline.hpp"

namespace sagips::env {

/// Mean and standard deviation of each observable. shape: [observables]
struct Moments {
  torch::Tensor mean, deviation;
  static Moments of(const torch::Tensor& values);
};

/// One way of looking at the parameters: a pipeline and the events measured that way.
struct Channel {
  std::string name;
  Pipeline pipeline;
  data::Dataset training;
  data::Dataset held_out;          ///< for distances between events; never trained on
  std::optional<Density> density;  ///< when the pipeline's likelihood is known
  /// The moments of all ranks' training events, when `training` is a rank's own share of them.
  std::optional<Moments> moments = std::nullopt;
  std::vector<Feature> features{};  ///< that moment matching compares beside its own
  double weight = 1;  ///< of its part of a generator's loss; a likelihood counts events instead

  std::int64_t observables() const { return training.dimensions(); }
  Moments moments_or_own() const { return moments ? *moments : Moments::of(training.values); }
};

/// Maps proposed parameters to a score: one set of parameters, one or more channels.
struct Environment {
  ParameterSet parameters;
  std::vector<Channel> channels;
  bool is_part = false;  ///< of a problem with more channels, which other ranks look at

  std::int64_t processes() const;  ///< the most of a pipeline

  /// What tells a channel's losses and distances from those of others: " name", or nothing where
  /// there is one channel alone.
  std::string suffix(std::size_t channel) const {
    return channels.size() > 1 || is_part ? " " + channels[channel].name : std::string();
  }
};

/// What becomes of the weights that a pipeline gives its events.
enum class ToyWeights {
  accepted,  ///< an event is taken with a probability of its weight: toys fluctuate as data do
  kept       ///< every event is taken, with its weight
};

/// Events of a pipeline at known parameters, through its inference form, with the reference numbers
/// it gives. Events with weights are accepted or rejected by their weight over the largest one among
/// all that were drawn, at least 100,000; `origin` says which share was taken.
/// source: von Neumann, Nat. Bur. Stand. Appl. Math. Ser. 12 (1951) 36
/// shape:  physical [parameters]; the result holds exactly `events` events
/// cost:   at most 1000 events drawn for each one asked for, or a million if that is more
/// throws: DataError when fewer than 1 of 1000 events are taken, or a weight is negative
data::Dataset toy_data(const Pipeline& pipeline, const torch::Tensor& physical, std::int64_t events,
                       const std::vector<std::string>& observables,
                       const core::RandomStream& stream, ToyWeights weights = ToyWeights::accepted);

}  // namespace sagips::env
