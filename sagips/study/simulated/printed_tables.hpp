#pragma once
#include <string>
#include <vector>

#include "sagips/study/simulated/simulation_tables.hpp"

namespace sagips::study {

/// What exchanges take and gain, at as many numbers of ranks as a terminal has room for, and below
/// it what one must know to read it.
std::string simulation_table(const SimulatePlan& plan, const SimulationOutcome& outcome,
                             const std::vector<analysis::SimulatedExchange>& exchanges);

/// Empty without rows.
std::string straggler_table(const std::vector<StragglerRow>& rows, double slowdown);

/// What central weights went through; empty where no exchange has them.
std::string centre_table(const SimulationOutcome& outcome);

/// "40 ranks, one of them 5 times slower"
std::string straggler_conditions(const std::vector<StragglerRow>& rows, double slowdown);

/// One line when something is missing, and how to get it; else empty. `run` is the folder's name.
std::string missing_line(const SimulationOutcome& outcome, const std::string& run);

}  // namespace sagips::study
