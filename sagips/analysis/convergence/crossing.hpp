#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "sagips/analysis/convergence/learning_curve.hpp"

namespace sagips::analysis {

/// How a faster curve meets a slower one over the time that both cover.
enum class Meeting {
  crosses,      ///< it is below at first, or again, and above in the end
  stays_below,  ///< below in the end: nothing speaks for stopping
  never_below,
  not_comparable  ///< they share no stretch of time
};

/// The point where the faster curve loses its lead for good.
struct Crossing {
  Meeting meeting = Meeting::never_below;
  double time_s = 0;  ///< when it crosses: the last time at which it goes from below to above
};

/// Both curves are given at the same rising times.
Crossing crossing(std::span<const double> time_s, std::span<const double> faster,
                  std::span<const double> slower);

/// Suggested stop of a training on several ranks: up to here its distance to the truth is below that
/// of the training on one rank, which in the end does better.
///
/// Its uncertainty comes from ensembles whose members are drawn again with replacement.
/// source: SAGIPS paper, Sec. VI-C3 (intersection of the curves of Figs. 15 and 16)
struct SuggestedStop {
  Crossing crossing;
  std::size_t redrawn = 0;       ///< ensembles; 0 where one member alone cannot vary
  double share = 0;              ///< of them that cross
  double low_s = 0, high_s = 0;  ///< where the central 68 % of those do
};
SuggestedStop suggested_stop(const EnsembleLearningCurve& several_ranks,
                             const EnsembleLearningCurve& one_rank, std::size_t redrawn = 300,
                             std::uint64_t seed = 1);

}  // namespace sagips::analysis
