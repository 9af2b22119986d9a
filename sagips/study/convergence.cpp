#include "sagips/study/convergence.hpp"

#include <utility>

#include "sagips/core/text.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/training_setup.hpp"
#include "sagips/study/convergence_results.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;

ConvergenceEnd conclude(const run::Job& job, const ConvergencePlan& plan, StudyRun& run,
                        const std::vector<analysis::Target>& targets, record::Study study,
                        bool finished, core::Log& log) {
  using State = record::StudyMember::State;
  ConvergenceEnd end = write_convergence(job, run.path(), plan, study, targets, log);
  end.folder = run.path();
  end.state = StudyEnd::state_of(!finished || count(study, State::pending) > 0,
                                 end.variants.empty() || count(study, State::failed) > 0);
  end.page = run.finish(end.state);
  end.tables = "\n" + end.tables;
  end.remarks = failures_of(study) +
                stopped_line(count(study, State::pending), study.members.size(), "trainings");
  end.members = std::move(study);
  return end;
}

}  // namespace

ConvergenceEnd convergence(const run::Workloads& workloads, const std::string& source,
                           const std::vector<std::string>& assignments, comm::Ranks& ranks,
                           const StudyOptions& options, core::Log& log) {
  run::Job job = run::read_job(workloads, source, assignments);
  const ConvergenceConfig& config = job.of<ConvergenceConfig>();
  run::warn_without_effect(workloads, job, {.command = "convergence", .ranks = config.ranks}, ranks,
                           log);
  if (options.program.empty())
    throw core::ConfigError("convergence",
                            "trains in processes of a program, and none is named. Name it.");
  const ConvergencePlan plan = plan_convergence(workloads, source, assignments, job);
  check_launchers(job, plan);
  const auto data = problem::load_data(*job.inverse().workload, job.inverse().data, job.seed());
  const std::vector<analysis::Target> targets = convergence_targets(job, data.all(), log);
  // variants differ in exchanges and batches alone, so what one training refuses, all would
  run::TrainingSetup tried(job, data.training(), job.seed());
  check_exchanges(job, plan, tried.gan, false, log);
  StudyRun run(job, ranks, log, "convergence", data.fingerprint(), options.start,
               {"convergence.members", "convergence.redrawn"},
               static_cast<int>(job.settings.threads));
  run.write_training_config(files::members.name);
  warn_of_few_cores(job, plan, log);
  record::Study study = seen_on_disk(run.path(), plan);
  log.info(core::text(run.resumed() ? core::text("going on with ", run.path(), ": ") : "",
                      plan.variants.size(), plan.variants.size() == 1 ? " way" : " ways",
                      " of training ", job.settings.workload, ", ", config.members,
                      " members each: ", study.members.size(), " trainings, ",
                      count(study, record::StudyMember::State::done), " of them done"));
  const bool finished =
      train_ways(job, run.path(), plan, study, job.of<EnsembleConfig>().at_once, options, log);
  return conclude(job, plan, run, targets, std::move(study), finished, log);
}

}  // namespace sagips::study
