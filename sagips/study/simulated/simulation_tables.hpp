#pragma once
#include <string>
#include <vector>

#include "sagips/analysis/figures/simulation.hpp"
#include "sagips/study/simulated/simulation_plan.hpp"

namespace sagips::study {

/// What all simulations of a study have shown.
struct SimulationOutcome {
  std::vector<Simulation> simulations;
  ComputeTime compute;
  bool finished = true;     ///< false: it was stopped
  std::size_t planned = 0;  ///< simulations
  std::size_t missing = 0;  ///< of them: not run, or failed
  bool complete() const;    ///< nothing is missing and nothing failed

  /// nullptr: not simulated, or failed
  const simulate::ReplayResult* result(const SimulatedWay& way, Simulation::What what) const;
  /// A result that says what the exchange takes by itself.
  const simulate::ReplayResult* alone(const SimulatedWay& way) const;
};

using analysis::StragglerRow;
/// What one slow rank leaves of the others' rates.
std::vector<StragglerRow> straggler_rows(const SimulatePlan& plan,
                                         const SimulationOutcome& outcome);

/// Times over ranks as figures show them: tensor by tensor, fused, one update late.
std::vector<analysis::SimulatedExchange> simulated_exchanges(const SimulatePlan& plan,
                                                             const SimulationOutcome& outcome);

/// Analysis rate at the plan's most ranks over that at its fewest; 0 unless it was simulated at both.
double gain_of(const analysis::SimulatedExchange& exchange, const SimulatePlan& plan);

std::string simulations_csv(const run::Job& job, const SimulatePlan& plan,
                            const SimulationOutcome& outcome);
std::string cost_csv(const SimulatePlan& plan, const SimulationOutcome& outcome);
std::string straggler_csv(const std::vector<StragglerRow>& rows, double slowdown);

/// What exchanges take and gain, at as many numbers of ranks as a terminal has room for, and below
/// it what one must know to read it.
std::string simulation_table(const SimulatePlan& plan, const SimulationOutcome& outcome,
                             const std::vector<analysis::SimulatedExchange>& exchanges);

/// Empty without rows.
std::string straggler_table(const std::vector<StragglerRow>& rows, double slowdown);

/// Steps with as many rows a rank on more ranks, and what an epoch takes and costs then; empty where an epoch is
/// a step and has no price.
std::string scaling_table(const run::Job& job, const SimulatePlan& plan,
                          const SimulationOutcome& outcome);

/// What central weights went through; empty where no exchange has them.
std::string centre_table(const SimulationOutcome& outcome);

/// "40 ranks, one of them 5 times slower"
std::string straggler_conditions(const std::vector<StragglerRow>& rows, double slowdown);

/// One line when something is missing, and how to get it; else empty. `run` is the folder's name.
std::string missing_line(const SimulationOutcome& outcome, const std::string& run);

}  // namespace sagips::study
