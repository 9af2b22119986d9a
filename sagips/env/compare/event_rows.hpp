#pragma once
#include <cstdint>

#include "sagips/core/random.hpp"
#include "sagips/data/dataset.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/events.hpp"

namespace sagips::env {

/// Events of one origin, one a row, and what each counts.
struct EventRows {
  torch::Tensor values;     ///< [events, observables]
  torch::Tensor weights{};  ///< [events], at least 0; undefined: all count 1

  static EventRows of(const data::Dataset& dataset);
  /// The events of all samples together; masked ones are left out.
  static EventRows of(const Events& events);

  std::int64_t size() const { return values.size(0); }
  std::int64_t observables() const { return values.size(1); }
  /// What each event counts of the whole. shape: [events], float64, summing to 1
  torch::Tensor shares() const;
  /// Equally weighted events that would fluctuate as much.
  /// source: Kish, Survey Sampling (1965), (sum w)^2 / sum w^2
  double effective_size() const;
  /// The chosen rows. shape: rows [chosen], int64
  EventRows select(const torch::Tensor& rows) const;
  /// Draws at most `count` of the events at random without replacement, whatever they weigh.
  EventRows at_most(std::int64_t count, const core::RandomStream& stream) const;
};

}  // namespace sagips::env
