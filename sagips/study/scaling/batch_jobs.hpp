#pragma once
#include <string>

#include "sagips/study/ways.hpp"

namespace sagips::study {

/// Writes a job array for each number of ranks, `jobs/ranks_4.sh`, whose tasks are the pending trainings, line by
/// line in `jobs/ranks_4.txt`, and says on the log how to submit them. Nothing where none is pending.
void write_batch_jobs(const run::Job& job, const std::string& folder, const WaysPlan& plan,
                      record::Study& study, const StudyOptions& options, core::Log& log);

}  // namespace sagips::study
