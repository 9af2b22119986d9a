#include "sagips/study/scaling/scaling.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/task.hpp"
#include "sagips/study/members.hpp"
#include "sagips/study/scaling/batch_jobs.hpp"
#include "sagips/study/scaling/scaling_results.hpp"
#include "sagips/study/simulated/run_simulations.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;
using core::text;
using State = record::StudyMember::State;

// Says which batches no rank can fill.
void remark_on_batches(const run::Job& job, const WaysPlan& plan, core::Log& log) {
  constexpr std::int64_t very_many_ranks = 1'000'000'000;  // which see all rows in a step
  if (job.problem->step_keys().batch.empty()) return;
  const run::StepOfRanks step = job.problem->step_of_ranks(job);
  if (!step.of_rows) return;
  const auto rows = static_cast<std::int64_t>(step.events(very_many_ranks));
  for (const analysis::ScalingRow& row : plan.rows)
    if (const std::string line = run::remark_on_batch(row.batch, rows, row.ranks); !line.empty())
      log.warning("lengths", line);
}

// Makes the networks and reads the data once, so that what a training would refuse is refused before anything
// is made. Returns what tells the data from others.
std::string try_training(const run::Job& job, const WaysPlan& plan, comm::Ranks& ranks,
                         core::Log& log) {
  const auto task = job.problem->task(job, ranks, log);
  const std::string metric = scaling_metric(job);
  const std::vector<std::string> known = task->metric_names();
  if (known.empty() && job.of<ScalingConfig>().target)
    throw core::ConfigError("scaling.target",
                            "needs evaluations, and nothing is kept aside for them. Keep some "
                            "aside (data.held_out), or leave it out.");
  if (!known.empty() && std::find(known.begin(), known.end(), metric) == known.end())
    throw core::ConfigError("scaling.metric", text("no evaluation has a '", core::excerpt(metric),
                                                   "'", core::suggestion(metric, known), "."));
  const bool elsewhere = job.of<ScalingConfig>().jobs != ScalingConfig::Jobs::none;
  check_exchanges(job, plan, task->optimizer(), elsewhere, log);
  return task->fingerprint();
}

struct Asked {
  const run::Workloads& workloads;
  const std::string& source;
  const std::vector<std::string>& assignments;
  const run::Job& job;
  const StudyOptions& options;
};

/// The job of simulated ranks, each of which computes as long in a step.
run::Job simulated_job(const Asked& asked, double step_s) {
  const ScalingConfig& config = asked.job.of<ScalingConfig>();
  std::vector<std::string> assignments = asked.assignments, ranks;
  for (const std::int64_t count : config.simulate) ranks.push_back(text(count));
  const std::vector<std::string> exchanges =
      config.exchanges.empty() ? std::vector{asked.job.settings.exchange} : config.exchanges;
  for (const std::string& assignment :
       {text("simulate.ranks=[", core::join(ranks, ","), "]"),
        text("simulate.exchanges=[", core::join(exchanges, ","), "]"),
        text("simulate.scenario.compute_s=", core::round_trip(step_s)),
        std::string("simulate.unfused=[]"), std::string("simulate.late=false"),
        std::string("simulate.stragglers=false")})
    assignments.push_back(assignment);
  return run::read_any_job(asked.workloads, asked.source, assignments);
}

/// Ranks beyond those that are here, which compute as the measured one does. one: its row
SimulatedExchanges simulate_ranks(const Asked& asked, const std::string& folder,
                                  const analysis::ScalingRow& one, core::Log& log) {
  const auto steps = static_cast<double>(asked.job.problem->step_of_ranks(asked.job).steps(1));
  const run::Job simulated = simulated_job(asked, *one.epoch_s / steps);
  return simulate_exchanges(asked.workloads, simulated, folder, asked.options, log);
}

StudyEnd conclude(const Asked& asked, const WaysPlan& plan, StudyRun& run,
                  const ScalingBeside& beside, const record::Study& study, bool finished,
                  core::Log& log) {
  StudyEnd end;
  end.folder = run.path();
  end.remarks = failures_of(study);
  if (asked.job.of<ScalingConfig>().jobs == ScalingConfig::Jobs::none)
    end.remarks += stopped_line(count(study, State::pending), study.members.size(), "trainings");
  const MembersSeen seen = look_at_members(asked.job, plan, study, run.path(), log);
  std::optional<SimulatedExchanges> simulated;
  const bool has_one_rank = !seen.rows.empty() && seen.rows.front().is_one_rank();
  if (finished && has_one_rank && !asked.job.of<ScalingConfig>().simulate.empty())
    simulated = simulate_ranks(asked, run.path(), seen.rows.front(), log);
  if (simulated && !simulated->outcome.finished)
    end.remarks +=
        stopped_line(simulated->outcome.missing, simulated->outcome.planned, "simulations");
  finished = finished && (!simulated || simulated->outcome.finished);
  write_scaling(asked.job, seen, simulated ? &*simulated : nullptr, beside, end, log);
  const bool failed = end.tables.empty() || count(study, State::failed) > 0 ||
                      (simulated && !simulated->outcome.complete());
  end.state = StudyEnd::state_of(!finished || count(study, State::pending) > 0, failed);
  end.page = run.finish(end.state);
  return end;
}

}  // namespace

StudyEnd scaling(const run::Workloads& known, const std::string& source,
                 const std::vector<std::string>& assignments, comm::Ranks& ranks,
                 const StudyOptions& options, core::Log& log) {
  const run::Workloads workloads = run::keeping_examples(known);
  run::Job job = run::read_any_job(workloads, source, assignments);
  const ScalingConfig& config = job.of<ScalingConfig>();
  const std::int64_t most = *std::max_element(config.ranks.begin(), config.ranks.end());
  run::warn_without_effect(workloads, job, {.command = "scaling", .ranks = most}, ranks, log);
  if (options.program.empty())
    throw core::ConfigError("scaling", "trains in processes of a program, and none is named.");
  const WaysPlan plan = plan_scaling(workloads, source, assignments, job);
  const ScalingBeside beside = read_beside(config);
  const bool here = config.jobs == ScalingConfig::Jobs::none;
  if (here) check_launchers(job, plan);
  const Asked asked{workloads, source, assignments, job, options};
  if (!config.simulate.empty()) check_simulations(workloads, simulated_job(asked, 1), options);
  const std::string data = try_training(job, plan, ranks, log);
  remark_on_batches(job, plan, log);
  StudyRun run(job, ranks, log, "scaling", data, options.start,
               {"scaling", "ensemble.launcher", "simulate"},
               static_cast<int>(job.settings.threads));
  run.write_training_config(files::members.name);
  if (here) warn_of_few_cores(job, plan, log);
  record::Study study = seen_on_disk(run.path(), plan);
  log.info(text(run.resumed() ? text("going on with ", run.path(), ": ") : "", plan.ways.size(),
                plan.ways.size() == 1 ? " way" : " ways", " of training ", job.settings.workload,
                ", ", config.repeats, " of each: ", study.members.size(), " trainings, ",
                count(study, State::done), " of them done"));
  if (job.kept) *job.kept = {};  // each child reads its own
  bool finished = true;
  if (here)
    finished = train_ways(job, run.path(), plan, study, 1, options, log);
  else
    write_batch_jobs(job, run.path(), plan, study, options, log);
  return conclude(asked, plan, run, beside, study, finished && count(study, State::pending) == 0,
                  log);
}

}  // namespace sagips::study
