#pragma once
#include "sagips/env/compare/event_distance.hpp"
#include "sagips/env/compare/event_rows.hpp"
#include "sagips/env/compare/standardisation.hpp"

namespace sagips::env::distances {

/// Energy distance 2 E|X - Y| - E|X - X'| - E|Y - Y'|: strictly proper, without a bandwidth.
///
/// Unbiased: pairs of an event with itself are left out, so its mean is zero when both kinds of
/// events are distributed alike.
///
/// cost:   one observable: a sort of the synthetic events; else m (n + m) pairs
/// source: Szekely and Rizzo, J. Stat. Plan. Inference 143 (2013) 1249, eq. (2.5)
class Energy final : public EventDistance {
 public:
  Energy(const Config& config, const EventRows& measured, const core::RandomStream& stream);
  torch::Tensor operator()(const torch::Tensor& physical, const Events& synthetic) const override;

 private:
  torch::Tensor to_measured(const torch::Tensor& values) const;

  Standardisation standard_;
  torch::Tensor measured_, shares_;              ///< sorted when there is one observable
  torch::Tensor summed_shares_, summed_values_;  ///< of one observable, beginning with 0
  torch::Tensor within_measured_;
};

}  // namespace sagips::env::distances
