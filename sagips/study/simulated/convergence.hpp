#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "sagips/core/log.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/study/simulated/many_ranks_job.hpp"
#include "sagips/study/simulated/simulate.hpp"

namespace sagips::study {

/// What `sagips simulate CONFIG --convergence` trains and compares.
struct SimulatedConvergence {
  const run::Job& study;  ///< whose `simulate.*` names exchanges, ranks and seeds; outlives it
  /// Ranks and seed are replaced; the platform, the scenario and what the config says stay.
  ManyRanksJob job;
  std::size_t at_once = 1;
  std::string conditions;  ///< one line above the tables
};

/// The assignments that the name of an exchange stands for. NAME/PART sets what it is made of:
/// averaged/arar_arar (inner), gossip/one_sided (form), grouped/outer_only (rule).
/// throws: ConfigError for a part of an exchange that has none, and for no part after a slash
std::vector<std::string> exchange_assignments(const std::string& name);

/// Looks at everything that can be wrong before anything is made: each exchange with what it is made of
/// at each number of ranks. throws: ConfigError
void check(const SimulatedConvergence& study, const run::Workloads& workloads,
           const StudyOptions& options);

/// Trains each exchange with each seed on each number of ranks, a process each, few ranks first.
/// Writes convergence.csv, tables.txt and figures into `folder`. What lies there of the same job is not
/// trained again.
/// throws: ConfigError without SimGrid and for what no training can be; StorageError
SimulateTrainingsEnd simulate_convergence(const SimulatedConvergence& study,
                                          const std::string& folder, const StudyOptions& options,
                                          core::Log& log);

}  // namespace sagips::study
