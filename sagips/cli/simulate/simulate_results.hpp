#pragma once
#include <string>

#include "sagips/cli/simulate/simulation_tables.hpp"
#include "sagips/core/log.hpp"

namespace sagips::cli {

/// Files, figures and tables of a study of simulations; tables go to the terminal as well.
/// throws: StorageError, also where figures find no room
void write_simulation(const Job& job, const std::string& folder, const SimulatePlan& plan,
                      const SimulationOutcome& outcome, core::Log& log);

}  // namespace sagips::cli
