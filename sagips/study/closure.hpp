#pragma once
#include <string>
#include <vector>

#include "sagips/study/experiments.hpp"
#include "sagips/study/study_run.hpp"

namespace sagips::study {

/// Repeats a closure test of a job and fills the study's folder: one experiment after the other on each rank,
/// or in processes of `options.program`, each of which takes one that nobody has. Prints nothing but to the log. collective
/// throws: ConfigError before anything is made; DataError, StorageError, CommError
ClosureEnd closure(const run::Workloads& workloads, run::Job job, comm::Ranks& ranks,
                   const StudyOptions& options, core::Log& log);

/// Takes experiments of a study whose folder is there until none is left, for a process that `closure` has
/// started. Returns false when it was interrupted.
bool closure_worker(run::Job job, const std::string& folder, const run::Requests& requests);

}  // namespace sagips::study
