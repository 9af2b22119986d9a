#pragma once
#include "sagips/core/random.hpp"
#include "sagips/problem/comparison.hpp"

namespace sagips::optim {

/// The area under the ROC curve of a classifier that learned from half of the rows to tell real from made
/// examples, of the other half: 0.5 where it cannot, 1 where it always can. Made and real examples for the same
/// targets are in the same half. NaN for fewer than four rows.
///
/// With n rows in the other half the area of examples of one origin is 0.5 +- sqrt(1 / 6n).
/// source: the classifier test of the CaloChallenge (github CaloChallenge/homepage), which has layers of 2048
/// and 100,000 showers; what a network of that size learns of 1,000 showers are these, by heart
double area_told_apart(const problem::ExampleComparison::Features& features,
                       const core::RandomStream& stream);

}  // namespace sagips::optim
