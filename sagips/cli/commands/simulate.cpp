#include "sagips/study/simulated/simulate.hpp"

#include "sagips/cli/commands.hpp"
#include "sagips/cli/study_watch.hpp"

namespace sagips::cli {

core::ExitCode simulate(const Workloads& workloads, const Arguments& arguments) {
  // options are short for keys, so that the study's config says all
  std::vector<std::string> assignments = arguments.assignments;
  assign_options(assignments, arguments, "simulate", {"ranks", "exchanges"}, true);
  assign_options(assignments, arguments, "simulate", {"platform"});
  core::Log log;
  StudyWatch watch(arguments, log, "simulations");
  const study::StudyOptions options = watch.options();
  comm::Ranks& ranks = *arguments.ranks;
  if (arguments.options.contains("convergence"))
    return show(
        study::simulate_trainings(workloads, arguments.source, assignments, ranks, options, log),
        arguments);
  return show(study::simulate(workloads, arguments.source, assignments, ranks, options, log),
              arguments);
}

}  // namespace sagips::cli
