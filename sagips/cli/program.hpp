#pragma once
#include <string>
#include <vector>

#include "sagips/problem/workload.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::cli {

/// The whole command line over these workloads: `int main(int argc, char** argv) { return
/// sagips::cli::run(argc, argv, {mine}); }` Every exception becomes one line on standard error.
/// Returns the exit code (core::ExitCode).
/// program: words that start this program again, for what a study trains; empty: its own file
int run(int argc, char** argv, const std::vector<problem::Entry>& workloads,
        const std::vector<std::string>& program = {});

/// These workloads with the settings that the commands have registered: what reads a config of theirs.
run::Workloads known_workloads(const std::vector<problem::Entry>& workloads);

}  // namespace sagips::cli
