#pragma once
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/record/study.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/study/ensemble_results.hpp"

namespace sagips::study {

/// Looks at the members of a learning problem's ensemble that are done, and writes results.json,
/// summary.csv and ensemble.csv: mean and standard deviation of each metric over members, by variant. Each
/// row of k folds is judged by the one network that has not seen it, and
/// the folds, which are alike in size, count alike.
EnsembleResults write_learning_ensemble(const run::Job& job, const std::string& folder,
                                        const record::Study& study, core::Log& log);

}  // namespace sagips::study
