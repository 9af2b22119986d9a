#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"
#include "sagips/record/results.hpp"

namespace sagips::analysis {

/// A square matrix of numbers from -1 to 1 as coloured squares with their numbers, the first row on
/// top. values: row-major. throws: Error when it is not square
Figure matrix_squares(const std::string& title, const std::vector<std::string>& names,
                      const std::vector<double>& values);

/// A correlation matrix as coloured squares with their numbers, the first row on top.
/// throws: Error when it is not square
Figure correlation_squares(const record::CorrelationResult& matrix);

}  // namespace sagips::analysis
