#pragma once
#include <vector>

#include "sagips/analysis/closure.hpp"
#include "sagips/analysis/figure.hpp"

namespace sagips::analysis {

/// Histograms of the pulls, one panel a parameter, with the standard normal curve they should follow.
/// throws: Error when there is no summary with two pulls
Figure closure_pulls(const std::vector<ClosureSummary>& summaries);

/// Coverage of the 68 % interval with its error, one panel a kind of error, one point a parameter.
Figure closure_coverage(const std::vector<ClosureSummary>& summaries);

}  // namespace sagips::analysis
