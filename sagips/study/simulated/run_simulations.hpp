#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "sagips/core/log.hpp"
#include "sagips/study/simulated/simulation_plan.hpp"
#include "sagips/study/study_run.hpp"

namespace sagips::study {

/// A program that simulates, which lies beside the one that `program` starts.
/// throws: ConfigError when it is not there, with what to install
std::string simulator_program(const std::vector<std::string>& program,
                              const std::string& name = "sagips-simulator");

/// Runs each simulation in a process of its own, in their order, `at_once` at a time, beside the program
/// that `options` name, and fills in
/// what came of it. Jobs and results stay in `folder`/simulations; what lies there of the same job
/// is not simulated again. One that fails costs the others nothing.
///
/// Results of another build are not taken over. A full disk ends them all.
///
/// Returns false when it was interrupted.
/// throws: Error, StorageError
bool run_simulations(const std::string& folder, std::size_t at_once, std::vector<Simulation>& all,
                     const StudyOptions& options, core::Log& log);

/// Whether a file can be read and holds just that: a job that is there already.
bool file_holds(const std::string& path, const std::string& content);

/// throws: StorageError when what a simulation leaves has no room in a folder
void require_room(const std::string& folder);

}  // namespace sagips::study
