#pragma once
#include <map>
#include <string>

#include "sagips/analysis/figures/search.hpp"
#include "sagips/core/log.hpp"
#include "sagips/study/tune/run_trial.hpp"
#include "sagips/study/tune/setting_space.hpp"
#include "sagips/study/tune/tune.hpp"

namespace sagips::study {

/// Writes what a search has found, `end.trials`, into its folder: a table of the best trials, trials.csv,
/// the best settings as a config, figures; and says in `end` what a person should see.
void write_tune_results(const TuneStudy& study, const run::Job& job, TuneEnd& end, core::Log& log);

/// Sets importance and error of each key: how much worse a process foretells trials that it does not know,
/// by their ranks (so one that diverges counts no more than that; ties share the mean), when this setting is
/// another trial's.
/// Change of the squared error over twice the variance: 1 for a setting that says all, 0 on average for one
/// that says nothing. The error is that of the mean over trials.
/// values: of 5 points or more; of more than 300 an even choice is seen. Where these are all equal, nothing
/// is set.
/// source: Breiman, Machine Learning 45 (2001) 5, section 10, with five folds in place of bags
void find_importances(const SettingSpace& space, const std::vector<optim::Point>& points,
                      const std::vector<double>& values, std::vector<analysis::SearchedKey>& keys);

/// The same trials for Optuna's reader and dashboard. throws: StorageError
void export_to_optuna(const TuneStudy& study,
                      const std::map<std::int64_t, record::TrialRecord>& trials,
                      const std::string& path);

}  // namespace sagips::study
