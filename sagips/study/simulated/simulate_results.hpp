#pragma once
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/study/simulated/simulation_tables.hpp"

namespace sagips::study {

/// What simulations have shown, for a person.
struct SimulationResults {
  std::string tables, figures;  ///< figures: their folder; empty: none
};

/// Writes files, figures and tables of a study of simulations.
/// throws: StorageError, also where figures find no room
SimulationResults write_simulation(const run::Job& job, const std::string& folder,
                                   const SimulatePlan& plan, const SimulationOutcome& outcome,
                                   core::Log& log);

}  // namespace sagips::study
