#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/record/study.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::study {

/// How `sagips ensemble` varies and starts its members.
struct EnsembleConfig {
  enum class Vary { seeds, bootstrap, both, folds };
  std::int64_t members = 20;      ///< of each variant and kind
  Vary vary = Vary::seeds;        ///< both: `members` of either kind
  std::vector<std::string> grid;  ///< {"generator.width=32,64", "batch.samples=16,32"}
  std::int64_t ranks = 1;         ///< of each member
  std::string launcher = "mpirun -n {ranks}";
  std::int64_t at_once = 0;  ///< 0: as the cores allow
  std::int64_t draws = 300;  ///< sub-ensembles of each size
  void fields(core::FieldList& list);
};

/// A study before anything runs: its members and what each changes of the study's own config.
struct StudyPlan {
  record::Study study;
  /// By member. Of generators the networks are compared, unless its own settings say otherwise.
  std::vector<std::vector<std::string>> assignments;
};

/// "seed_003"
std::string numbered(const std::string& word, std::size_t number);

/// Adds a training that differs from others of its variant by assignments of its `own`; all see the data
/// of the study. varied: what differs, for the study's file
void add_member(StudyPlan& plan, const run::Job& job, std::size_t variant, const std::string& name,
                const std::string& varied, std::vector<std::string> own);

/// Groups of the config that no training reads.
std::vector<std::string> not_of_trainings(const run::Workloads& workloads);

/// Members of an ensemble: the same data for all; seeds count up from run.seed, bootstraps from 1.
/// Every variant's config is read once, so that what is wrong with it is said before anything runs.
/// throws: ConfigError
StudyPlan plan_ensemble(const run::Workloads& workloads, const std::string& source,
                        const std::vector<std::string>& assignments, const run::Job& job);

/// Loads each variant's data and makes its networks once, so that what a training would refuse is
/// refused before a folder is made; `varied` looks at each. Returns what tells the first one's events from others.
/// throws: what load_data and TrainingSetup throw
std::string try_variants(const run::Workloads& workloads, const std::string& source,
                         const std::vector<std::string>& assignments, const record::Study& study,
                         run::VariedKeys& varied);

}  // namespace sagips::study
