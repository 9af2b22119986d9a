#pragma once
#include <functional>
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/record/study.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/study/ensemble.hpp"

namespace sagips::study {

/// Looks at the members that are done and writes the study's results.json, summary.csv,
/// ensemble.csv, ensemble_size.csv and figures. A variant with fewer than two members of a kind that are
/// done is left out with a warning.
///
/// The ensemble's value is the mean over the members of one data set; where only bootstraps were
/// made, the mean over these.
/// job: of the study; job_of_variant: of a grid point, for its truth, floors and fit
EnsembleEnd write_ensemble(
    const run::Job& job, const std::function<run::Job(const record::StudyVariant&)>& job_of_variant,
    const std::string& folder, const record::Study& study, core::Log& log);

/// Looks at the members of a learning problem's ensemble that are done, and writes results.json,
/// summary.csv and ensemble.csv: mean and standard deviation of each metric over members, by variant. Each
/// row of k folds is judged by the one network that has not seen it, and
/// the folds, which are alike in size, count alike.
EnsembleEnd write_learning_ensemble(const run::Job& job, const std::string& folder,
                                    const record::Study& study, core::Log& log);

}  // namespace sagips::study
