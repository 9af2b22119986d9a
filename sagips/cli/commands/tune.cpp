#include "sagips/study/tune/tune.hpp"

#include <cmath>
#include <iostream>

#include "sagips/cli/commands.hpp"
#include "sagips/cli/study_watch.hpp"
#include "sagips/cli/tune_display.hpp"
#include "sagips/core/text.hpp"

namespace sagips::cli {

namespace {

std::int64_t number_of(const Arguments& arguments, const std::string& name) {
  const std::string word = option(arguments, name);
  double number = 0;
  if (!core::parse_number(word, number) || number < 1 || number > 1e9 ||
      number != std::floor(number))
    throw core::ConfigError(
        "--" + name, core::text("'", core::excerpt(word), "' is no number of a trial or attempt."));
  return static_cast<std::int64_t>(number);
}

// A child of `sagips tune`, or ranks of one: one trial of a study that is there.
core::ExitCode run_one(const Workloads& workloads, const Arguments& arguments) {
  const InterruptGuard interrupt;
  const CheckpointSignal checkpoint;
  core::Log log;
  return study::tune_trial(workloads, arguments.source, number_of(arguments, "trial"),
                           number_of(arguments, "attempt"), *arguments.ranks, requests(), log)
             ? core::ExitCode::done
             : core::ExitCode::stopped_early;
}

core::ExitCode export_trials(const Workloads& workloads, const Arguments& arguments) {
  const std::string file = option(arguments, "export-optuna");
  const std::size_t trials = study::export_tuning(workloads, arguments.source, file);
  std::cout << trials << " trials for Optuna: " << file << '\n';
  return core::ExitCode::done;
}

}  // namespace

core::ExitCode tune(const Workloads& workloads, const Arguments& arguments) {
  if (arguments.options.contains("trial")) return run_one(workloads, arguments);
  if (arguments.options.contains("export-optuna")) return export_trials(workloads, arguments);
  comm::Ranks& ranks = *arguments.ranks;
  std::vector<std::string> assignments = arguments.assignments;
  assign_options(assignments, arguments, "tune", {"trials", "minutes", "target"});
  if (const std::string block = option(arguments, "block-ranks"); !block.empty())
    assign_option(assignments, "block-ranks", "tune.ranks", block);
  core::Log log({.quiet = arguments.quiet});
  StudyWatch watch(arguments, log, "trials");
  TuneDisplay display(watch.lines());
  study::TuneOptions options{watch.options()};
  options.show = [&display](const auto& trials, const auto& config) {
    display.show(trials, config);
  };
  const auto work = arguments.options.contains("worker") ? study::join_tuning : study::tune;
  try {
    const study::TuneEnd ended =
        work(workloads, arguments.source, assignments, ranks, options, log);
    return ranks.is_first() ? show(ended, arguments) : core::ExitCode::done;
  } catch (const study::SearchFailed& failed) {
    if (ranks.is_first()) show(failed.end, arguments);
    throw;
  }
}

}  // namespace sagips::cli
