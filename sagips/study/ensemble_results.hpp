#pragma once
#include <functional>
#include <ostream>
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/record/study.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::study {

/// Looks at the members that are done and writes the study's results.json, summary.csv,
/// ensemble.csv, ensemble_size.csv and figures; a table of each variant for `out`. A variant with fewer
/// than two members of a kind that are done is left out with a warning.
///
/// The ensemble's value is the mean over the members of one data set; where only bootstraps were
/// made, the mean over these.
/// job: of the study; job_of_variant: of a grid point, for its truth, floors and fit
/// Returns whether there was anything to look at.
bool write_ensemble(const run::Job& job,
                    const std::function<run::Job(const record::StudyVariant&)>& job_of_variant,
                    const std::string& folder, const record::Study& study, std::ostream& out,
                    core::Log& log);

}  // namespace sagips::study
