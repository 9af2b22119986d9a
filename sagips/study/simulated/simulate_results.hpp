#pragma once
#include <ostream>
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/study/simulated/simulation_tables.hpp"

namespace sagips::study {

/// Files, figures and tables of a study of simulations; the tables also for `out`.
/// throws: StorageError, also where figures find no room
void write_simulation(const run::Job& job, const std::string& folder, const SimulatePlan& plan,
                      const SimulationOutcome& outcome, std::ostream& out, core::Log& log);

}  // namespace sagips::study
