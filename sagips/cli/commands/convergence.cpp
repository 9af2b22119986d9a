#include "sagips/study/convergence.hpp"

#include "sagips/cli/commands.hpp"
#include "sagips/cli/study_watch.hpp"

namespace sagips::cli {

core::ExitCode convergence(const Workloads& workloads, const Arguments& arguments) {
  // options are short for keys, so that the study's config says all
  std::vector<std::string> assignments = arguments.assignments;
  assign_options(assignments, arguments, "convergence",
                 {"exchanges", "outer-periods", "over-ranks"}, true);
  assign_options(assignments, arguments, "convergence", {"ranks", "members", "batch"});
  core::Log log;
  StudyWatch watch(arguments, log, "trainings");
  return show(study::convergence(workloads, arguments.source, assignments, *arguments.ranks,
                                 watch.options(), log),
              arguments);
}

}  // namespace sagips::cli
