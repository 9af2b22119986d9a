#pragma once
#include <map>
#include <ostream>
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/study/tune/run_trial.hpp"

namespace sagips::study {

/// Writes what a search has found into its folder and prints it: a table of the best trials,
/// trials.csv, the best settings as a config, figures. Returns whether there is a best trial.
bool write_tune_results(const TuneStudy& study, const run::Job& job,
                        const std::map<std::int64_t, record::TrialRecord>& trials,
                        std::ostream& out, core::Log& log);

/// The same trials for Optuna's reader and dashboard. throws: StorageError
void export_to_optuna(const TuneStudy& study,
                      const std::map<std::int64_t, record::TrialRecord>& trials,
                      const std::string& path);

}  // namespace sagips::study
