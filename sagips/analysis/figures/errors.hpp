#pragma once
#include <optional>

#include "sagips/analysis/figure.hpp"
#include "sagips/record/results.hpp"

namespace sagips::analysis {

/// The regions that hold the true values of two parameters with 68.3 and 95.4 %, for each pair of
/// the first `most` free parameters that the data fix: ellipses from the covariance of the errors
/// around the answer, with the truth as dashed lines where it is known, and other solutions.
/// Nothing without a covariance, or with one such parameter.
std::optional<Figure> error_ellipses(const record::Results& results, std::size_t most);

/// The free parameters' deviations from the truth in per cent of it, with their errors, and the
/// smallest errors that the data allow (Cramer-Rao). Nothing where no truth is known.
std::optional<Figure> deviations(const record::Results& results);

}  // namespace sagips::analysis
