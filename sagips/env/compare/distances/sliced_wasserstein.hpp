#pragma once
#include "sagips/env/compare/event_distance.hpp"
#include "sagips/env/compare/event_rows.hpp"
#include "sagips/env/compare/standardisation.hpp"

namespace sagips::env::distances {

/// Mean over random directions of W_p^p between the projected events. Cheap for many events and
/// observables; its mean is above zero for finite samples of one distribution, too.
///
/// The p-th root is not taken: it has no slope where the distance vanishes, and moves no minimum.
/// cost:   directions times a sort of the synthetic events
/// source: W_p^p = integral |F^-1(q) - G^-1(q)|^p dq; Nadjahi et al., arXiv 1906.04516, eq. (4)
class SlicedWasserstein final : public EventDistance {
 public:
  SlicedWasserstein(const Config& config, const EventRows& measured,
                    const core::RandomStream& stream);
  torch::Tensor operator()(const torch::Tensor& physical, const Events& synthetic) const override;

 private:
  torch::Tensor quantiles(const torch::Tensor& levels) const;

  Standardisation standard_;
  double power_;
  torch::Tensor directions_;  ///< [directions, observables]
  torch::Tensor sorted_;      ///< projected measured events. shape: [directions, measured]
  torch::Tensor levels_;      ///< sum of shares up to the middle of each. shape: as sorted_
};

}  // namespace sagips::env::distances
