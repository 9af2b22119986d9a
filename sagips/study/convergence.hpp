#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/convergence/variant.hpp"
#include "sagips/study/study_run.hpp"

namespace sagips::study {

/// What trainings that differ in exchanges, periods and ranks say of each other.
struct ConvergenceEnd : StudyEnd {
  std::vector<analysis::ConvergenceVariant> variants;  ///< that have members
  record::Study members;
};

/// Trains what is to be compared and fills the study's folder, few ranks first: each in processes of
/// `options.program`, which several ranks of a training need. Prints nothing but to the log.
/// source, assignments: as `run::read_job` takes them
/// throws: ConfigError before anything is made; DataError, StorageError
ConvergenceEnd convergence(const run::Workloads& workloads, const std::string& source,
                           const std::vector<std::string>& assignments, comm::Ranks& ranks,
                           const StudyOptions& options, core::Log& log);

}  // namespace sagips::study
