#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/convergence/crossing.hpp"
#include "sagips/analysis/convergence/variant.hpp"

namespace sagips::analysis {

/// Residual and spread of each parameter at the end, distance, time and rate; one column for each
/// variant. Each member counts with its last snapshot.
/// source: SAGIPS paper, Tab. IV
std::string convergence_table(const std::vector<ConvergenceVariant>& variants);

/// When a training on several ranks may stop, with its uncertainty; or why nothing suggests it.
std::string stop_text(const SuggestedStop& stop);

/// Writes one row for each variant, parameter and time.
void write_convergence_csv(const std::string& path,
                           const std::vector<ConvergenceVariant>& variants);

}  // namespace sagips::analysis
