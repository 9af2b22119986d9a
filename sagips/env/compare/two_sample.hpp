#pragma once
#include <cstdint>

#include "sagips/core/random.hpp"
#include "sagips/env/compare/event_classifier.hpp"
#include "sagips/env/compare/event_rows.hpp"

namespace sagips::env {

/// Whether two samples of events can have one origin.
struct TestResult {
  double statistic = 0;
  double p_value = 1;  ///< probability of at least this statistic when they have
};

/// Test by the energy distance, sensitive to every difference of two distributions.
///
/// Observables are standardised by mean and deviation of both samples together. Without weights the
/// labels are permuted, which is exact: p <= alpha with a probability of at most alpha. With
/// weights a label means something for its event, so instead each event's signed share of the
/// statistic keeps its size and gets a random sign (wild bootstrap), which is asymptotic. p_value =
/// (1 + worse) / (1 + permutations).
///
/// shape:  both [events, observables]; about a thousand events each are enough: see
///         EventRows::at_most
/// cost:   (n + m)^2 (observables + 2 permutations) operations, 8 (n + m)^2 bytes
/// source: statistic 2 E|X - Y| - E|X - X'| - E|Y - Y'|: Szekely and Rizzo, J. Stat. Plan.
///         Inference 143 (2013) 1249, Sec. 6; signs: Chwialkowski, Sejdinovic and Gretton, arXiv
///         1408.5404, Sec. 3
/// throws: DataError when a sample has fewer than two events
TestResult energy_test(const EventRows& measured, const EventRows& synthetic,
                       std::int64_t permutations, const core::RandomStream& stream);

/// Test by a classifier: trained on half of either sample, it is asked for the origin of the other
/// half. The statistic is its accuracy, both kinds counting the same; 0.5 when it cannot tell.
///
/// Better than the energy test for differences that hide in few of many observables.
/// source: Lopez-Paz and Oquab, arXiv 1610.06545, Sec. 3; normal approximation for the difference
///         of two proportions, with effective sizes for weighted events
/// throws: DataError when a sample has fewer than four events
TestResult classifier_test(const EventRows& measured, const EventRows& synthetic,
                           const EventClassifier::Config& config, const core::RandomStream& stream);

}  // namespace sagips::env
