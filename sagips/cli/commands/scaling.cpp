#include "sagips/study/scaling/scaling.hpp"

#include "sagips/cli/commands.hpp"
#include "sagips/cli/study_watch.hpp"

namespace sagips::cli {

core::ExitCode scaling(const Workloads& workloads, const Arguments& arguments) {
  // options are short for keys, so that the study's config says all
  std::vector<std::string> assignments = arguments.assignments;
  assign_options(assignments, arguments, "scaling",
                 {"ranks", "exchanges", "batches", "rates", "simulate"}, true);
  assign_options(assignments, arguments, "scaling", {"mode", "repeats", "target", "jobs"});
  assign_quoted(assignments, arguments, "launcher", "scaling.launchers");
  assign_quoted(assignments, arguments, "with", "scaling.beside");
  core::Log log;
  StudyWatch watch(arguments, log, "trainings");
  return show(study::scaling(workloads, arguments.source, assignments, *arguments.ranks,
                             watch.options(), log),
              arguments);
}

}  // namespace sagips::cli
