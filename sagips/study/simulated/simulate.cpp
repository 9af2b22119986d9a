#include "sagips/study/simulated/simulate.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/study/simulated/compute_time.hpp"
#include "sagips/study/simulated/convergence.hpp"
#include "sagips/study/simulated/run_simulations.hpp"
#include "sagips/study/simulated/simulate_results.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;

// What trainings on simulated ranks compare where nothing is named.
constexpr const char* usual_ranks = "[64,400]";
constexpr const char* usual_exchanges =
    "[rabenseifner,none,arar,arar_arar,rma_arar_arar,gossip,gossip/one_sided,averaged/none,"
    "averaged/arar_arar]";
constexpr std::int64_t several = 2;  // ranks: which exchanges are compared, simulate.* says

std::size_t at_once(const run::Job& job) {
  const std::int64_t asked = job.of<SimulateConfig>().at_once;
  return static_cast<std::size_t>(asked > 0 ? asked : nn::allowed_processors());
}

// What a stop leaves undone: whatever the computation is, as many are simulated.
void count_missing(const run::Job& job, const SimulatePlan& plan, SimulationOutcome& outcome,
                   const std::vector<Simulation>& run) {
  std::set<std::string> there;
  for (const Simulation& one : run)
    if (one.result) there.insert(one.name);
  ComputeTime any = outcome.compute;
  if (!outcome.finished && any.mean_s <= 0) any.mean_s = 1;
  const std::vector<Simulation> all = study_simulations(job, plan, any);
  outcome.planned = all.size();
  outcome.missing = static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [&](const Simulation& one) { return there.count(one.name) == 0; }));
}

/// First what says how long an epoch computes, then everything.
SimulationOutcome simulate_all(const run::Job& job, const std::string& folder,
                               const SimulatePlan& plan, const std::optional<ComputeTime>& given,
                               const StudyOptions& options, core::Log& log) {
  SimulationOutcome outcome;
  const auto run = [&](std::vector<Simulation> all, bool (*is_kept)(const Simulation&)) {
    outcome.finished = run_simulations(folder, at_once(job), all, options, log);
    count_missing(job, plan, outcome, all);
    for (Simulation& one : all)
      if (is_kept(one)) outcome.simulations.push_back(std::move(one));
  };
  if (given) outcome.compute = *given;
  if (!given) {
    outcome.compute.origin = "the computation of an epoch is not known yet";
    run(calibrating_simulations(job, plan), calibrates);
    if (!outcome.finished) return outcome;
    outcome.compute = calibrated_compute_time(job, plan, outcome.simulations);
  }
  log.info(outcome.compute.origin);
  run(study_simulations(job, plan, outcome.compute), [](const Simulation&) { return true; });
  return outcome;
}

// A measured epoch of rows is cut into the steps of its run. The paper's gain says nothing of these.
std::optional<ComputeTime> compute_of_step(const run::Workloads& workloads, const run::Job& job,
                                           const SimulatePlan& plan) {
  std::optional<ComputeTime> given = given_compute_time(job);
  if (!plan.step.of_rows) return given;
  if (!given)
    throw core::ConfigError("simulate.scenario.compute_s",
                            "is needed: nothing else says how long a step computes. Set it, or "
                            "simulate.compute_from=RUN of one rank.");
  const std::string& run = job.of<SimulateConfig>().compute_from;
  if (run.empty()) return given;
  const run::Job measured = run::read_any_job(workloads, run + "/" + files::config.name, {});
  const run::StepOfRanks own = measured.problem->step_of_ranks(measured);
  for (const auto& number : record::read_results_json(run + "/" + files::results.name).numbers)
    if (number.name == "ranks" && number.value != 1)
      throw core::ConfigError("simulate.compute_from", core::text(run, " is of ", number.value,
                                                                  " ranks. Name one of one rank."));
  if (own.events(1) != plan.step.events(1))
    throw core::ConfigError(
        "simulate.compute_from",
        core::text("a step of ", run, " sees ", own.events(1), " rows, and one of these ranks ",
                   plan.step.events(1), ". Name a run with the same batch."));
  const auto steps = static_cast<double>(own.steps(1));
  given->mean_s /= steps;
  for (double& seconds : given->sample) seconds /= steps;
  given->origin += core::text(", which has ", steps, " steps");
  return given;
}

// What failed or is missing: a line each.
std::string remarks_of(const SimulationOutcome& outcome, const std::string& folder) {
  std::string lines;
  for (const Simulation& one : outcome.simulations)
    if (!one.failure.empty()) lines += core::text(one.name, " failed: ", one.failure, "\n");
  return lines + missing_line(outcome, std::filesystem::path(folder).filename().string());
}

// A disk that fills while simulations run is no bad input. The same command goes on once it has
// room.
template <class Call>
auto with_room(const record::RunDirectory& folder, const Call& call) {
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

SimulateEnd simulate_into(StudyRun& run, const run::Job& job, const SimulatePlan& plan,
                          const std::optional<ComputeTime>& given, const StudyOptions& options,
                          core::Log& log) {
  run.folder().folder(files::simulations.name);
  for (const std::string& line : plan.left_out) log.info(line);
  log.info(core::text(run.resumed() ? core::text("going on with ", run.path(), ": ") : "",
                      plan.ways.size(), " exchanges of ", plan.floats(), " floats in ",
                      plan.step.tensors.size(), " tensors on ", job.of<SimulateConfig>().platform,
                      ", ", plan.ranks.front(), " to ", plan.ranks.back(), " ranks"));
  SimulateEnd end;
  end.folder = run.path();
  end.outcome = simulate_all(job, run.path(), plan, given, options, log);
  write_simulation(job, run.path(), plan, end, log);
  end.remarks = remarks_of(end.outcome, run.path());
  end.state = StudyEnd::state_of(!end.outcome.finished, !end.outcome.complete());
  end.page = run.finish(end.state);
  return end;
}

// Trainings take longer than messages alone: where nothing is named, fewer than the scan's.
run::Job training_job(const run::Workloads& workloads, const std::string& source,
                      std::vector<std::string> assignments) {
  if (run::job_document(workloads, source, assignments).where("simulate.ranks").empty())
    assignments.push_back(core::text("simulate.ranks=", usual_ranks));
  run::Job job = run::read_job(workloads, source, assignments);
  if (!job.of<SimulateConfig>().exchanges.empty()) return job;
  assignments.push_back(core::text("simulate.exchanges=", usual_exchanges));
  return run::read_job(workloads, source, assignments);
}

SimulatedConvergence convergence_study(const run::Job& job, const std::string& source,
                                       std::vector<std::string> assignments) {
  const SimulateConfig& config = job.of<SimulateConfig>();
  const std::optional<ComputeTime> compute = given_compute_time(job);
  if (!compute)
    throw core::ConfigError("simulate.scenario.compute_s",
                            "--convergence draws residuals over time (which is nothing without the "
                            "computation of an epoch). Set it, or simulate.compute_from.");
  SimulatedConvergence study{
      job, {}, at_once(job), core::text(config.platform, "; ", compute->origin)};
  study.job.source = source;
  study.job.assignments = std::move(assignments);
  // the study's own are no part of a training: it stays when another seed is added
  std::erase_if(study.job.assignments, [](const std::string& assignment) {
    return assignment.rfind("simulate.", 0) == 0;
  });
  study.job.as_floats = config.as_floats;
  study.job.platform = simulate::read_platform(config.platform);
  study.job.scenario = config.scenario;
  study.job.scenario.sample = compute->sample;
  return study;
}

}  // namespace

SimulateEnd simulate(const run::Workloads& workloads, const std::string& source,
                     const std::vector<std::string>& assignments, comm::Ranks& ranks,
                     const StudyOptions& options, core::Log& log) {
  simulator_program(options.program);  // says what to install before anything else is looked at
  run::Job job = run::read_any_job(workloads, source, assignments);
  run::warn_without_effect(workloads, job, {.command = "simulate", .ranks = several}, ranks, log);
  const SimulatePlan plan = plan_simulations(job);
  const std::optional<ComputeTime> given = compute_of_step(workloads, job, plan);
  StudyRun run(job, ranks, log, "simulate", {}, options.start,
               {"simulate.exchanges", "simulate.unfused", "simulate.ranks", "simulate.at_once"}, 1);
  options.requests.begun();
  return with_room(run.folder(),
                   [&] { return simulate_into(run, job, plan, given, options, log); });
}

void check_simulations(const run::Workloads& workloads, const run::Job& job,
                       const StudyOptions& options) {
  simulator_program(options.program);
  compute_of_step(workloads, job, plan_simulations(job));
}

SimulatedExchanges simulate_exchanges(const run::Workloads& workloads, const run::Job& job,
                                      const std::string& folder, const StudyOptions& options,
                                      core::Log& log) {
  SimulatedExchanges all{plan_simulations(job), {}};
  const std::optional<ComputeTime> given = compute_of_step(workloads, job, all.plan);
  std::filesystem::create_directories(core::text(folder, "/", files::simulations.name));
  all.outcome = simulate_all(job, folder, all.plan, given, options, log);
  return all;
}

SimulateTrainingsEnd simulate_trainings(const run::Workloads& workloads, const std::string& source,
                                        const std::vector<std::string>& assignments,
                                        comm::Ranks& ranks, const StudyOptions& options,
                                        core::Log& log) {
  simulator_program(options.program);
  run::Job job = training_job(workloads, source, assignments);
  run::warn_without_effect(workloads, job, {.command = "simulate", .ranks = several}, ranks, log);
  const SimulatedConvergence study = convergence_study(job, source, assignments);
  check(study, workloads, options);
  StudyRun run(job, ranks, log, "simulate --convergence", {}, options.start,
               {"simulate.exchanges", "simulate.ranks", "simulate.seeds", "simulate.at_once"}, 1);
  options.requests.begun();
  SimulateTrainingsEnd end = simulate_convergence(study, run.path(), options, log);
  end.folder = run.path();
  end.page = run.finish(end.state);
  return end;
}

}  // namespace sagips::study
