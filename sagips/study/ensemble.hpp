#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sagips/record/results.hpp"
#include "sagips/study/study_run.hpp"

namespace sagips::study {

/// What many networks have learned of one problem, on the first rank.
struct EnsembleEnd : StudyEnd {
  std::optional<record::Results> results{};  ///< of the first variant; nothing: too few are done
  record::Study members;                     ///< and what became of each
};

/// Trains the members of an ensemble and fills the study's folder: in processes of `options.program`, or
/// on the ranks that there are, in groups where a member takes several. Prints nothing but to the log.
/// source, assignments: as `run::read_any_job` takes them. collective
/// throws: ConfigError before anything is made; DataError, StorageError, CommError
EnsembleEnd ensemble(const run::Workloads& workloads, const std::string& source,
                     const std::vector<std::string>& assignments, comm::Ranks& ranks,
                     const StudyOptions& options, core::Log& log);

}  // namespace sagips::study
