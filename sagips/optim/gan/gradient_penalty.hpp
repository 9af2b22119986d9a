#pragma once
#include <cstdint>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/nn/network.hpp"
#include "sagips/nn/replica.hpp"

namespace sagips::optim {

/// A price on the slope of a discriminator's output D by the events it sees.
struct GradientPenaltyConfig {
  enum class Kind {
    none,
    r1,           ///< (factor / 2) mean |grad D|^2 on measured events
    r2,           ///< the same on synthetic events
    r1_r2,        ///< both
    wasserstein,  ///< factor mean (|grad D| - 1)^2 between measured and synthetic events
  };
  Kind kind = Kind::none;
  double factor = 1;
  std::int64_t every = 1;  ///< epochs between penalties, which then count so many times

  /// What the penalty counts in an epoch; 0: there is none.
  double factor_in(std::uint32_t epoch) const;
  void fields(core::FieldList& list);
};

/// What a penalty looks at: events as the network sees them, one a row.
struct PenaltyRows {
  torch::Tensor real, synthetic;  ///< [rows, observables]
  torch::Tensor shares;  ///< of the synthetic events, [rows], summing to 1; undefined: all alike
  torch::Tensor places;  ///< [rows, 1] in (0, 1): where between its two events a pair is looked at
};

/// Adds `share` times the gradients of the penalty by the network's weights to the leaves'
/// accumulators and returns the penalty, [] float64. Rows outside any graph; the last bias has no gradient.
///
/// cost:   about three passes of LibTorch's layers over the rows, whatever library multiplies
///         matrices otherwise
/// source: r1, r2: Mescheder et al., ICML 2018 (arXiv 1801.04406), eqs. (9), (10); wasserstein:
///         Gulrajani et al., NeurIPS 2017 (arXiv 1704.00028), eq. (3)
torch::Tensor add_gradient_penalty(GradientPenaltyConfig::Kind kind, double factor,
                                   const nn::Network& network, const PenaltyRows& rows,
                                   double share, nn::Leaves& leaves);

}  // namespace sagips::optim
