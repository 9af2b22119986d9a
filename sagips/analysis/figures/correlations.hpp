#pragma once
#include "sagips/analysis/figure.hpp"
#include "sagips/record/results.hpp"

namespace sagips::analysis {

/// A correlation matrix as coloured squares with their numbers, the first row on top.
/// throws: Error when it is not square
Figure correlation_squares(const record::CorrelationResult& matrix);

}  // namespace sagips::analysis
