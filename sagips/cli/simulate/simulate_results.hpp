#pragma once
#include <string>

#include "sagips/cli/simulate/simulation_tables.hpp"
#include "sagips/core/log.hpp"

namespace sagips::cli {

/// Files, figures and tables of a study of simulations; tables go to the terminal as well.
/// complete: nothing failed and nothing was interrupted. throws: StorageError
void write_simulation(const Job& job, const std::string& folder, const SimulatePlan& plan,
                      const SimulationOutcome& outcome, bool complete, core::Log& log);

}  // namespace sagips::cli
