#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/convergence/simulated.hpp"
#include "sagips/study/simulated/simulation_tables.hpp"
#include "sagips/study/study_run.hpp"

namespace sagips::study {

/// What exchanges take on a simulated cluster.
struct SimulateEnd : StudyEnd {
  SimulationOutcome outcome;
};

/// Simulates the exchanges that `simulate.*` of a job asks for and fills the study's folder, by programs
/// that lie beside `options.program`. Prints nothing but to the log.
/// source, assignments: as `run::read_job` takes them
/// throws: ConfigError before anything is made; core::Error where the disk is full, and the study can go on
SimulateEnd simulate(const run::Workloads& workloads, const std::string& source,
                     const std::vector<std::string>& assignments, comm::Ranks& ranks,
                     const StudyOptions& options, core::Log& log);

/// Simulations and what came of them.
struct SimulatedExchanges {
  SimulatePlan plan;
  SimulationOutcome outcome;
};

/// Refuses what `simulate_exchanges` would, before anything is made. throws: ConfigError
void check_simulations(const run::Workloads& workloads, const run::Job& job,
                       const StudyOptions& options);

/// The same into the folder of another study; only jobs and results of simulations are written.
SimulatedExchanges simulate_exchanges(const run::Workloads& workloads, const run::Job& job,
                                      const std::string& folder, const StudyOptions& options,
                                      core::Log& log);

/// What trainings on simulated ranks say of each other.
struct SimulateTrainingsEnd : StudyEnd {
  std::vector<analysis::SimulatedVariant> variants;
};

/// The same for whole trainings: residuals over simulated time.
SimulateTrainingsEnd simulate_trainings(const run::Workloads& workloads, const std::string& source,
                                        const std::vector<std::string>& assignments,
                                        comm::Ranks& ranks, const StudyOptions& options,
                                        core::Log& log);

}  // namespace sagips::study
