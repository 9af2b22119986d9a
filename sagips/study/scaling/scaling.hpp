#pragma once
#include <string>
#include <vector>

#include "sagips/study/study_run.hpp"

namespace sagips::study {

/// Trains on several numbers of ranks, one training at a time, few ranks first, and fills the study's folder with
/// speed-up, efficiency and where the time went; simulates further ranks where these are asked for. Each training
/// is processes of `options.program`. Prints nothing but to the log.
/// source, assignments: as `run::read_any_job` takes them
/// throws: ConfigError before anything is made; DataError, StorageError
StudyEnd scaling(const run::Workloads& workloads, const std::string& source,
                 const std::vector<std::string>& assignments, comm::Ranks& ranks,
                 const StudyOptions& options, core::Log& log);

}  // namespace sagips::study
