#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sagips/record/trials.hpp"
#include "sagips/study/study_run.hpp"
#include "sagips/study/tune/tune_config.hpp"

namespace sagips::study {

using TrialRecords = std::map<std::int64_t, record::TrialRecord>;

struct TuneOptions : StudyOptions {
  /// Called often with all trials, on the first rank; empty: nobody looks.
  std::function<void(const TrialRecords& trials, const TuneConfig& config)> show{};
};

/// What a search over settings has found, on the first rank.
struct TuneEnd : StudyEnd {
  TrialRecords trials;
  std::optional<std::int64_t> best{};  ///< the best trial; nothing: none has come to its end
};

/// All trials have failed.
struct SearchFailed : core::Error {
  SearchFailed(const core::Error& reason, TuneEnd what) : Error(reason), end(std::move(what)) {}
  TuneEnd end;  ///< what there is, on the first rank
};

/// Searches for the settings with which trainings end best, and fills the study's folder: each trial in
/// processes of `options.program`, or in blocks of the ranks that there are. Prints nothing but to the log.
/// source, assignments: as `run::read_any_job` takes them. collective
/// throws: ConfigError before anything is made; SearchFailed; DataError, StorageError, CommError
TuneEnd tune(const run::Workloads& workloads, const std::string& source,
             const std::vector<std::string>& assignments, comm::Ranks& ranks,
             const TuneOptions& options, core::Log& log);

/// Works for a search whose folder is there, which others may do, too; `assignments` of keys that a worker
/// does in its own way. throws: as `tune`
TuneEnd join_tuning(const run::Workloads& workloads, const std::string& folder,
                    const std::vector<std::string>& assignments, comm::Ranks& ranks,
                    const TuneOptions& options, core::Log& log);

/// One trial of a search, for processes that `tune` has started. attempt: of the claim that it is for
/// Returns false when it was interrupted. collective. throws: ConfigError; CommError
bool tune_trial(const run::Workloads& workloads, const std::string& folder, std::int64_t trial,
                std::int64_t attempt, comm::Ranks& ranks, const run::Requests& requests,
                core::Log& log);

/// Writes the trials of a search for Optuna's reader and dashboard. Returns how many there are.
/// throws: ConfigError, StorageError
std::size_t export_tuning(const run::Workloads& workloads, const std::string& folder,
                          const std::string& file);

}  // namespace sagips::study
