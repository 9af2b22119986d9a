#pragma once
#include "sagips/env/compare/distances/pairs.hpp"
#include "sagips/env/compare/event_distance.hpp"
#include "sagips/env/compare/event_rows.hpp"
#include "sagips/env/compare/standardisation.hpp"

namespace sagips::env::distances {

/// Squared maximum mean discrepancy E k(X, X') + E k(Y, Y') - 2 E k(X, Y) with k a mean of Gaussian
/// kernels, their widths in units of the measured events' median distance. Far events hardly count:
/// robust against a background that the pipeline does not know, but flat far from the answer.
///
/// Unbiased, as Energy.
/// cost:   m (n + m) pairs
/// source: Gretton et al., J. Mach. Learn. Res. 13 (2012) 723, eq. (3); median: Sec. 8
class Mmd final : public EventDistance {
 public:
  Mmd(const Config& config, const EventRows& measured, const core::RandomStream& stream);
  torch::Tensor operator()(const torch::Tensor& physical, const Events& synthetic) const override;

 private:
  Standardisation standard_;
  torch::Tensor measured_, shares_;
  RadialFunction kernel_;
  torch::Tensor within_measured_;
};

}  // namespace sagips::env::distances
