#include "sagips/study/ensemble.hpp"

#include "sagips/cli/commands.hpp"
#include "sagips/cli/study_watch.hpp"

namespace sagips::cli {

namespace {

// Options are short for keys, so that the study's config says all.
std::vector<std::string> study_assignments(const Arguments& arguments) {
  std::vector<std::string> assignments = arguments.assignments;
  assign_options(assignments, arguments, "ensemble", {"members", "vary", "ranks"});
  assign_quoted(assignments, arguments, "grid", "ensemble.grid");
  return assignments;
}

}  // namespace

core::ExitCode ensemble(const Workloads& workloads, const Arguments& arguments) {
  core::Log log({.quiet = arguments.quiet});
  StudyWatch watch(arguments, log, "trainings");
  const study::EnsembleEnd ended =
      study::ensemble(workloads, arguments.source, study_assignments(arguments), *arguments.ranks,
                      watch.options(), log);
  return arguments.ranks->is_first() ? show(ended, arguments) : core::ExitCode::done;
}

}  // namespace sagips::cli
