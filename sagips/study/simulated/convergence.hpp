#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/analysis/convergence/simulated.hpp"
#include "sagips/core/log.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/study/simulated/many_ranks_job.hpp"
#include "sagips/study/study_run.hpp"

namespace sagips::study {

/// What `sagips simulate CONFIG --convergence` trains and compares.
struct SimulatedConvergence {
  /// Ranks and seed are replaced; the platform, the scenario and what the config says stay.
  ManyRanksJob job;
  /// Exchanges by name; NAME/PART sets what it is made of: averaged/arar_arar (inner),
  /// gossip/one_sided (form), grouped/outer_only (rule). The first is what the others are compared
  /// with.
  std::vector<std::string> exchanges = {"rabenseifner",     "none",          "arar",
                                        "arar_arar",        "rma_arar_arar", "gossip",
                                        "gossip/one_sided", "averaged/none", "averaged/arar_arar"};
  std::vector<std::int64_t> ranks = {64, 400};
  std::vector<std::int64_t> seeds = {1, 2, 3};
  std::size_t at_once = 1;
  std::string conditions;  ///< one line above the tables
  std::optional<analysis::FigureConfig> figures;
};

/// The assignments that a name stands for.
/// throws: ConfigError for a part of an exchange that has none, and for no part after a slash
std::vector<std::string> exchange_assignments(const std::string& name);

/// Looks at everything that can be wrong before anything is made: each exchange with what it is made of
/// at each number of ranks. throws: ConfigError
void check(const SimulatedConvergence& study, const run::Workloads& workloads,
           const StudyOptions& options);

/// What trainings on simulated ranks have shown.
struct SimulatedConvergenceResults {
  StudyEnd::State state = StudyEnd::State::complete;
  std::vector<analysis::SimulatedVariant> variants;
  std::string tables;  ///< for a person
};

/// Trains each exchange with each seed on each number of ranks, a process each, few ranks first.
/// Writes convergence.csv, tables.txt and figures into `folder`. What lies there of the same job is not
/// trained again.
/// throws: ConfigError without SimGrid and for what no training can be; StorageError
SimulatedConvergenceResults simulate_convergence(const SimulatedConvergence& study,
                                                 const std::string& folder,
                                                 const StudyOptions& options, core::Log& log);

}  // namespace sagips::study
