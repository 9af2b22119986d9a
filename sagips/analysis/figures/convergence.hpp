#pragma once
#include <optional>
#include <vector>

#include "sagips/analysis/convergence/crossing.hpp"
#include "sagips/analysis/convergence/variant.hpp"
#include "sagips/analysis/figure.hpp"

namespace sagips::analysis {

/// The variants that one figure shows together.
using Shown = std::vector<const ConvergenceVariant*>;

/// Residual of each parameter over training time, a colour a variant, with a band of the spread over
/// members where few variants are shown, and the Cramer-Rao floor.
/// source: SAGIPS paper, Figs. 13 to 15
Figure ensemble_residuals_over_time(const Shown& variants);

/// Spread over members of each parameter, both axes logarithmic.
/// source: SAGIPS paper, Figs. 15 and 16
Figure ensemble_spread_over_time(const Shown& variants);

/// Distance to the truth, all parameters together, over the spread in the same unit; logarithmic.
/// stop: where several ranks lose their lead over one
Figure distance_over_time(const Shown& variants,
                          const std::optional<SuggestedStop>& stop = std::nullopt);

}  // namespace sagips::analysis
