#pragma once
#include <vector>

#include "sagips/optim/moments/conclusion.hpp"
#include "sagips/optim/moments/moment_descent.hpp"

namespace sagips::optim {

/// A point of the ranges, with the chi2 of a simulation there. shape: unit [free]
struct LikePlace {
  torch::Tensor unit;
  double chi2 = 0;
};

/// Places where a symmetry may have put another minimum, the best first, at most 12: minima of chi2 along each
/// parameter alone; mirror images in the middle of its range or in zero, and half a range away, of each
/// parameter and of pairs.
std::vector<LikePlace> places_like(const MomentModel& model, const torch::Tensor& unit,
                                   std::int64_t events);

/// Solutions from which on no other is looked for.
inline constexpr std::int64_t most_minima = 16;

/// Every solution that the data allow, the best one first: minima whose chi2 lies within 9 of the
/// best, apart by more than three errors.
///
/// Descents begin at Sobol points over the ranges, and at places like each minimum that lie behind a barrier,
/// with few simulated events. What ends away from all known minima is brought down and concluded with all of
/// them. A first round of starts that meets one
/// minimum alone is the last; else rounds go on until every minimum was met six times, or eight rounds
/// are over: one of four minima alike is then missed with a probability of 0.5 %.
/// Symmetries of many parameters have too many: the search ends with `most_minima`.
/// first: the minimum that is known
/// everywhere: else only beside the first one, where slopes vanish along a direction
std::vector<Concluded> minima_around(const MomentModel& model, const SolveContext& context,
                                     MomentDescent::Clock::time_point began, Concluded first,
                                     bool everywhere = true);

}  // namespace sagips::optim
