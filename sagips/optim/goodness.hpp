#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// Probability of a chi2 of at least `value`.
/// source: upper incomplete gamma function Q(degrees / 2, value / 2)
double chi_square_tail(double value, double degrees_of_freedom);

/// Fewer events have no mean that is close to normal.
inline constexpr std::int64_t events_of_mean_test = 20;

/// Compares the mean over `training` of each channel's only feature with that of ten times as many synthetic
/// events at given parameters (all, physical): chi2 with a degree of freedom for each channel. The feature must
/// not know these events, and may have been chosen in whatever way else.
GoodnessOfFit mean_test(const env::Environment& environment, const torch::Tensor& physical,
                        const std::string& name, std::uint64_t seed);

/// How measured and synthetic events are told apart.
enum class EventTest { energy, classifier };

/// Compares measured events with synthetic ones at given parameters (all, physical): one test a
/// channel, of at most `events` events of either kind. permutations: of the energy test
/// cost: see env::energy_test, env::classifier_test
std::vector<GoodnessOfFit> event_tests(const env::Environment& environment,
                                       const std::vector<double>& values, EventTest test,
                                       std::int64_t events, std::int64_t permutations,
                                       std::uint64_t seed);

}  // namespace sagips::optim
