#pragma once
#include <string>
#include <vector>

#include "sagips/cli/settings.hpp"
#include "sagips/record/study.hpp"

namespace sagips::cli {

/// A study before anything runs: its members and what each changes of the study's own config.
struct StudyPlan {
  record::Study study;
  std::vector<std::vector<std::string>> assignments;  ///< by member
};

/// Members of an ensemble: the same data for all; seeds count up from run.seed, bootstraps from 1.
/// Every variant's config is read once, so that what is wrong with it is said before anything runs.
/// throws: ConfigError
StudyPlan plan_ensemble(const Workloads& workloads, const std::string& source,
                        const std::vector<std::string>& assignments, const Job& job);

/// The config that members start from, as YAML: the study's, less what belongs to the study itself,
/// so that a study can be given more members without changing those it has. job: read for this alone
std::string member_config(Job job);

/// Loads each variant's data and makes its networks once, so that what a training would refuse is
/// refused before a folder is made. throws: what make_environment and Gan throw
void try_variants(const Workloads& workloads, const std::string& source,
                  const std::vector<std::string>& assignments, const record::Study& study);

}  // namespace sagips::cli
