#pragma once
#include <ostream>
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/record/study.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::study {

/// Looks at the members of a learning problem's ensemble that are done, and writes results.json,
/// summary.csv and ensemble.csv: mean and standard deviation of each metric over members, by variant; a
/// table of each for `out`. Each row of k folds is judged by the one network that has not seen it, and
/// the folds, which are alike in size, count alike. Returns whether there was anything to look at.
bool write_learning_ensemble(const run::Job& job, const std::string& folder,
                             const record::Study& study, std::ostream& out, core::Log& log);

}  // namespace sagips::study
