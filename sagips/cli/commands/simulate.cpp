#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <set>

#include "sagips/cli/commands.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/run_environment.hpp"
#include "sagips/run/run_report.hpp"
#include "sagips/study/simulated/compute_time.hpp"
#include "sagips/study/simulated/convergence.hpp"
#include "sagips/study/simulated/printed_tables.hpp"
#include "sagips/study/simulated/run_simulations.hpp"
#include "sagips/study/simulated/simulate_config.hpp"
#include "sagips/study/simulated/simulate_results.hpp"
#include "sagips/study/study_folder.hpp"

namespace sagips::cli {

namespace {

namespace files = record::run_files;

// Options are short for keys, so that the study's config says all.
std::vector<std::string> assignments_of(const Arguments& arguments) {
  std::vector<std::string> assignments = arguments.assignments;
  assign_options(assignments, arguments, "simulate", {"ranks", "exchanges"}, true);
  assign_options(assignments, arguments, "simulate", {"platform"});
  return assignments;
}

Job job_of(const Workloads& workloads, const Arguments& arguments) {
  return run::read_job(workloads, arguments.source, assignments_of(arguments));
}

constexpr std::int64_t several = 2;  // ranks: which exchanges are compared, simulate.* says

std::size_t at_once(const Job& job) {
  const std::int64_t asked = job.of<study::SimulateConfig>().at_once;
  return static_cast<std::size_t>(asked > 0 ? asked : nn::allowed_processors());
}

// What a stop leaves undone: whatever the computation is, as many are simulated.
void count_missing(const Job& job, const study::SimulatePlan& plan,
                   study::SimulationOutcome& outcome, const std::vector<study::Simulation>& run) {
  std::set<std::string> there;
  for (const study::Simulation& one : run)
    if (one.result) there.insert(one.name);
  study::ComputeTime any = outcome.compute;
  if (!outcome.finished && any.mean_s <= 0) any.mean_s = 1;
  const std::vector<study::Simulation> all = study::study_simulations(job, plan, any);
  outcome.planned = all.size();
  outcome.missing = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(),
                    [&](const study::Simulation& one) { return there.count(one.name) == 0; }));
}

/// First what says how long an epoch computes, then everything.
study::SimulationOutcome simulate_all(const Job& job, const std::string& folder,
                                      const study::SimulatePlan& plan,
                                      const std::optional<study::ComputeTime>& given,
                                      core::Log& log) {
  study::SimulationOutcome outcome;
  const auto run = [&](std::vector<study::Simulation> all,
                       bool (*is_kept)(const study::Simulation&)) {
    outcome.finished = study::run_simulations(folder, at_once(job), all, requests(), log);
    count_missing(job, plan, outcome, all);
    for (study::Simulation& one : all)
      if (is_kept(one)) outcome.simulations.push_back(std::move(one));
  };
  if (given) outcome.compute = *given;
  if (!given) {
    outcome.compute.origin = "the computation of an epoch is not known yet";
    run(study::calibrating_simulations(job, plan), study::calibrates);
    if (!outcome.finished) return outcome;
    outcome.compute = study::calibrated_compute_time(job, plan, outcome.simulations);
  }
  log.info(outcome.compute.origin);
  run(study::study_simulations(job, plan, outcome.compute),
      [](const study::Simulation&) { return true; });
  return outcome;
}

core::ExitCode end_of(const record::RunDirectory& folder, const study::SimulationOutcome& outcome) {
  for (const study::Simulation& one : outcome.simulations)
    if (!one.failure.empty()) std::cout << one.name << " failed: " << one.failure << '\n';
  const std::string missing =
      study::missing_line(outcome, std::filesystem::path(folder.path()).filename().string());
  if (!missing.empty()) std::cout << missing << '\n';
  std::cout << "run folder: " << folder.path() << std::endl;
  folder.finish(!outcome.finished    ? record::RunStatus::stopped
                : outcome.complete() ? record::RunStatus::finished
                                     : record::RunStatus::failed);
  if (!outcome.finished) return core::ExitCode::stopped_early;
  return outcome.complete() ? core::ExitCode::done : core::ExitCode::failed;
}

// A disk that fills while simulations run is no bad input. The same command goes on once it has
// room.
core::ExitCode ended_by_a_full_disk(const record::RunDirectory& folder,
                                    const std::function<core::ExitCode()>& call) {
  try {
    return call();
  } catch (const core::StorageError& error) {
    try {
      folder.finish(record::RunStatus::stopped);
    } catch (const core::StorageError&) {  // it is unfinished then
    }
    throw core::Error(error.what());
  }
}

core::ExitCode simulate_into(const record::OpenedRun& opened, const Job& job,
                             const Arguments& arguments, const study::SimulatePlan& plan,
                             const std::optional<study::ComputeTime>& given, core::Log& log) {
  const record::RunDirectory& folder = opened.directory;
  log.add_file(folder.file(files::log.name));
  folder.folder(files::simulations.name);
  record::write_environment(folder.file(files::environment.name),
                            run::run_environment(*arguments.ranks, 1));
  for (const std::string& line : plan.left_out) log.info(line);
  log.info(core::text(opened.resumed ? "going on with " + folder.path() + ": " : "",
                      plan.ways.size(), " exchanges of ", plan.floats(), " floats in ",
                      plan.tensors.size(), " tensors on ", job.of<study::SimulateConfig>().platform,
                      ", ", plan.ranks.front(), " to ", plan.ranks.back(), " ranks"));
  const study::SimulationOutcome outcome = simulate_all(job, folder.path(), plan, given, log);
  study::write_simulation(job, folder.path(), plan, outcome, std::cout, log);
  const core::ExitCode code = end_of(folder, outcome);
  if (job.settings.run.figures) say_report(run::write_run_report(folder.path(), log));
  return code;
}

core::ExitCode simulate_exchanges(const Workloads& workloads, const Arguments& arguments) {
  Job job = job_of(workloads, arguments);
  core::Log log;
  say_without_effect(workloads, job, arguments, {.command = "simulate", .ranks = several}, log);
  const study::SimulatePlan plan = study::plan_simulations(job);
  const std::optional<study::ComputeTime> given = study::given_compute_time(job);
  const record::OpenedRun opened = study::open_study(
      job, "simulate", {}, start_of(arguments),
      {"simulate.exchanges", "simulate.unfused", "simulate.ranks", "simulate.at_once"});
  return ended_by_a_full_disk(
      opened.directory, [&] { return simulate_into(opened, job, arguments, plan, given, log); });
}

// Trainings take longer than messages alone: where nothing is named, fewer than the scan's.
Job training_job(const Workloads& workloads, const Arguments& arguments) {
  const study::SimulatedConvergence without;
  std::vector<std::string> assignments = assignments_of(arguments);
  if (run::job_document(workloads, arguments.source, assignments).where("simulate.ranks").empty()) {
    std::vector<std::string> ranks;
    for (const std::int64_t count : without.ranks) ranks.push_back(core::text(count));
    assignments.push_back("simulate.ranks=[" + core::join(ranks, ",") + "]");
  }
  Job job = run::read_job(workloads, arguments.source, assignments);
  if (!job.of<study::SimulateConfig>().exchanges.empty()) return job;
  assignments.push_back("simulate.exchanges=[" + core::join(without.exchanges, ",") + "]");
  return run::read_job(workloads, arguments.source, assignments);
}

study::SimulatedConvergence convergence_study(const Job& job, const Arguments& arguments) {
  const study::SimulateConfig& config = job.of<study::SimulateConfig>();
  const std::optional<study::ComputeTime> compute = study::given_compute_time(job);
  if (!compute)
    throw core::ConfigError("simulate.scenario.compute_s",
                            "--convergence draws residuals over time (which is nothing without the "
                            "computation of an epoch). Set it, or simulate.compute_from.");
  study::SimulatedConvergence study;
  study.job.source = arguments.source;
  study.job.assignments = arguments.assignments;
  // the study's own are no part of a training: it stays when another seed is added
  std::erase_if(study.job.assignments, [](const std::string& assignment) {
    return assignment.rfind("simulate.", 0) == 0;
  });
  study.job.as_floats = config.as_floats;
  study.job.platform = simulate::read_platform(config.platform);
  study.job.scenario = config.scenario;
  study.job.scenario.sample = compute->sample;
  study.exchanges = config.exchanges;
  study.ranks = config.ranks;
  study.seeds = config.seeds;
  study.at_once = at_once(job);
  study.conditions = core::text(config.platform, "; ", compute->origin);
  if (job.settings.run.figures) study.figures = job.settings.figures;
  return study;
}

core::ExitCode simulate_trainings(const Workloads& workloads, const Arguments& arguments) {
  Job job = training_job(workloads, arguments);
  core::Log log;
  say_without_effect(workloads, job, arguments, {.command = "simulate", .ranks = several}, log);
  const study::SimulatedConvergence study = convergence_study(job, arguments);
  study::check(study, workloads);
  const record::OpenedRun opened = study::open_study(
      job, "simulate --convergence", {}, start_of(arguments),
      {"simulate.exchanges", "simulate.ranks", "simulate.seeds", "simulate.at_once"});
  const record::RunDirectory& folder = opened.directory;
  log.add_file(folder.file(files::log.name));
  record::write_environment(folder.file(files::environment.name),
                            run::run_environment(*arguments.ranks, 1));
  const core::ExitCode code =
      study::simulate_convergence(study, folder.path(), requests(), std::cout, log);
  std::cout << "run folder: " << folder.path() << std::endl;
  folder.finish(code == core::ExitCode::done            ? record::RunStatus::finished
                : code == core::ExitCode::stopped_early ? record::RunStatus::stopped
                                                        : record::RunStatus::failed);
  if (job.settings.run.figures) say_report(run::write_run_report(folder.path(), log));
  return code;
}

}  // namespace

core::ExitCode simulate(const Workloads& workloads, const Arguments& arguments) {
  study::simulator_program();  // says what to install before anything else is looked at
  const InterruptGuard interrupt;
  const CheckpointSignal checkpoint;  // each simulation that has ended is one
  if (arguments.options.contains("convergence")) return simulate_trainings(workloads, arguments);
  return simulate_exchanges(workloads, arguments);
}

}  // namespace sagips::cli
