#pragma once
#include <string>
#include <vector>

#include "sagips/cli/settings.hpp"
#include "sagips/core/log.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/study.hpp"

namespace sagips::cli {

/// Looks at the members that are done and writes the study's results.json, summary.csv,
/// ensemble.csv, ensemble_size.csv and figures; prints the tables. A variant with fewer than two
/// members that are done is left out with a warning.
/// Returns whether there was anything to look at.
bool write_ensemble(const Job& job, const std::string& folder, const record::Study& study,
                    core::Log& log);

}  // namespace sagips::cli
