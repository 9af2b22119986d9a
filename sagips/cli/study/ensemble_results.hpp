#pragma once
#include <functional>
#include <string>

#include "sagips/cli/settings.hpp"
#include "sagips/core/log.hpp"
#include "sagips/record/study.hpp"

namespace sagips::cli {

/// Looks at the members that are done and writes the study's results.json, summary.csv,
/// ensemble.csv, ensemble_size.csv and figures; prints a table of each variant. A variant with fewer
/// than two members of a kind that are done is left out with a warning.
///
/// The ensemble's value is the mean over the members of one data set; where only bootstraps were
/// made, the mean over these.
/// job: of the study; job_of_variant: of a grid point, for its truth, floors and fit
/// Returns whether there was anything to look at.
bool write_ensemble(const Job& job,
                    const std::function<Job(const record::StudyVariant&)>& job_of_variant,
                    const std::string& folder, const record::Study& study, core::Log& log);

}  // namespace sagips::cli
