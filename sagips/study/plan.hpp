#pragma once
#include <string>
#include <vector>

#include "sagips/record/study.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::study {

/// A study before anything runs: its members and what each changes of the study's own config.
struct StudyPlan {
  record::Study study;
  std::vector<std::vector<std::string>> assignments;  ///< by member
};

/// Members of an ensemble: the same data for all; seeds count up from run.seed, bootstraps from 1.
/// Every variant's config is read once, so that what is wrong with it is said before anything runs.
/// throws: ConfigError
StudyPlan plan_ensemble(const run::Workloads& workloads, const std::string& source,
                        const std::vector<std::string>& assignments, const run::Job& job);

/// Loads each variant's data and makes its networks once, so that what a training would refuse is
/// refused before a folder is made. Returns what tells the first one's events from others.
/// throws: what load_data and TrainingSetup throw
std::string try_variants(const run::Workloads& workloads, const std::string& source,
                         const std::vector<std::string>& assignments, const record::Study& study);

}  // namespace sagips::study
