#include "sagips/study/ensemble.hpp"

#include "sagips/cli/commands.hpp"
#include "sagips/cli/study_watch.hpp"
#include "sagips/core/text.hpp"

namespace sagips::cli {

namespace {

// Options are short for keys, so that the study's config says all.
std::vector<std::string> study_assignments(const Arguments& arguments) {
  std::vector<std::string> assignments = arguments.assignments;
  assign_options(assignments, arguments, "ensemble", {"members", "vary", "ranks"});
  const auto grid = arguments.options.find("grid");
  if (grid == arguments.options.end()) return assignments;
  std::vector<std::string> quoted;
  for (const std::string& list : grid->second) {
    std::string text;
    for (const char letter : list) {
      if (letter == '"' || letter == '\\') text += '\\';
      text += letter;
    }
    quoted.push_back(core::text("\"", text, "\""));
  }
  assignments.push_back(core::text("ensemble.grid=[", core::join(quoted, ", "), "]"));
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
