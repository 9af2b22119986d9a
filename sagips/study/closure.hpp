#pragma once
#include <string>
#include <vector>

#include "sagips/study/experiments.hpp"
#include "sagips/study/study_run.hpp"

namespace sagips::study {

/// What closure experiments say of stated errors, on the first rank.
struct ClosureEnd : StudyEnd {
  std::vector<analysis::ClosureSummary> summaries;  ///< by parameter and kind of error
  ExperimentCount made;
  std::vector<core::Warning> warnings;
};

/// Repeats a closure test of a job and fills the study's folder: a share of the experiments on each rank,
/// or in processes of `options.program`. Prints nothing but to the log. collective
/// throws: ConfigError before anything is made; DataError, StorageError, CommError
ClosureEnd closure(const run::Workloads& workloads, run::Job job, comm::Ranks& ranks,
                   const StudyOptions& options, core::Log& log);

/// A share of the experiments of a study whose folder is there, for a process that `closure` has started.
/// Returns false when it was interrupted.
bool closure_share(run::Job job, const std::string& folder, const WorkShare& share,
                   const run::Requests& requests);

}  // namespace sagips::study
