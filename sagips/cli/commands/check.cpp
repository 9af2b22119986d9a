#include "sagips/run/check.hpp"

#include <iostream>

#include "sagips/cli/commands.hpp"
#include "sagips/core/log.hpp"

namespace sagips::cli {

core::ExitCode check(const Workloads& workloads, const Arguments& arguments) {
  Job job = run::read_any_job(workloads, arguments.source, arguments.assignments);
  core::Log log;
  const run::Checked checked = run::check(workloads, job, *arguments.ranks, log);
  if (!arguments.ranks->is_first()) return core::ExitCode::done;
  std::cout << checked.report << std::flush;
  for (const std::string& problem : checked.problems)
    std::cerr << "sagips: error: " << problem << '\n';
  if (!checked.problems.empty()) return core::ExitCode::bad_input;
  std::cout << (checked.trainable ? "ready to train" : "ready to solve") << std::endl;
  return core::ExitCode::done;
}

}  // namespace sagips::cli
