#pragma once
#include "sagips/analysis/figure.hpp"
#include "sagips/record/results.hpp"

namespace sagips::analysis {

/// Every solution that the data allow with its errors, the best one first: a panel a free parameter.
Figure solutions(const record::Results& results);

}  // namespace sagips::analysis
