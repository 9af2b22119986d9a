#include "sagips/study/closure.hpp"

#include <filesystem>
#include <utility>

#include "sagips/cli/commands.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/study_watch.hpp"

namespace sagips::cli {

namespace {

// A child of `sagips closure`, which takes experiments of a folder.
core::ExitCode work(const Workloads& workloads, const Arguments& arguments) {
  Job job = run::read_job(workloads, arguments.source, arguments.assignments);
  const std::string folder = std::filesystem::path(arguments.source).parent_path().string();
  const InterruptGuard interrupt;
  const CheckpointSignal checkpoint;  // each experiment that has ended is one
  return study::closure_worker(std::move(job), folder, requests()) ? core::ExitCode::done
                                                                   : core::ExitCode::stopped_early;
}

}  // namespace

core::ExitCode closure(const Workloads& workloads, const Arguments& arguments) {
  if (arguments.options.count("worker") > 0) return work(workloads, arguments);
  comm::Ranks& ranks = *arguments.ranks;
  std::vector<std::string> assignments = arguments.assignments;
  assign_options(assignments, arguments, "closure", {"experiments", "method", "members"});
  Job job = run::read_job(workloads, arguments.source, assignments);
  core::Log log({.quiet = arguments.quiet});
  StudyWatch watch(arguments, log, "experiments");
  const study::ClosureEnd ended =
      study::closure(workloads, std::move(job), ranks, watch.options(), log);
  if (!ranks.is_first()) return core::ExitCode::done;
  *arguments.warnings = ended.warnings;
  return show(ended, arguments);
}

}  // namespace sagips::cli
