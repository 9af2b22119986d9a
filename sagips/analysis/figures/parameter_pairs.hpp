#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sagips/analysis/figure.hpp"

namespace sagips::analysis {

/// How predicted parameters scatter: each one's histogram on the diagonal, each pair's points below
/// it, the truth as dashed lines where it is known. Points are the first 1,000 rows; histograms
/// hold all rows.
/// samples: row-major [rows, names]; truth: one entry a name
/// throws: Error when the sizes do not fit
Figure parameter_pairs(std::span<const float> samples, const std::vector<std::string>& names,
                       const std::vector<std::optional<double>>& truth);

}  // namespace sagips::analysis
