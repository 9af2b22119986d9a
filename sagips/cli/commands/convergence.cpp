#include <algorithm>
#include <iostream>
#include <map>

#include "sagips/cli/commands.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/run_environment.hpp"
#include "sagips/run/run_report.hpp"
#include "sagips/run/training_setup.hpp"
#include "sagips/study/convergence_config.hpp"
#include "sagips/study/convergence_results.hpp"
#include "sagips/study/members.hpp"
#include "sagips/study/study_folder.hpp"

namespace sagips::cli {

namespace {

using State = record::StudyMember::State;
namespace files = record::run_files;

std::int64_t most_ranks(const study::ConvergencePlan& plan) {
  std::int64_t most = 1;
  for (const analysis::ConvergenceVariant& variant : plan.variants)
    most = std::max(most, variant.ranks);
  return most;
}

// The same threads for each rank of every variant, or their times could not be compared.
study::MemberSetting member_setting(const Job& job, const std::string& folder, std::int64_t most,
                                    std::int64_t ranks) {
  const std::int64_t cores = nn::allowed_processors();
  study::MemberSetting setting{folder, 1, 1, job.of<study::EnsembleConfig>().launcher};
  setting.threads =
      study::threads_of_member(job, static_cast<std::size_t>(most), static_cast<int>(cores));
  const std::int64_t fit = std::max<std::int64_t>(1, cores / (setting.threads * ranks));
  const std::int64_t asked = job.of<study::EnsembleConfig>().at_once;
  setting.at_once = static_cast<std::size_t>(asked > 0 ? asked : fit);
  return setting;
}

/// Trains what is pending, few ranks first. Returns false when it was interrupted.
bool train_all(const Job& job, const std::string& folder, const study::ConvergencePlan& plan,
               record::Study& study, core::Log& log) {
  std::map<std::int64_t, std::vector<std::size_t>> by_ranks;
  for (std::size_t i = 0; i < study.members.size(); ++i)
    by_ranks[plan.variants[plan.variant_of[i]].ranks].push_back(i);
  const auto save = [&] {
    study::save_study(core::text(folder, "/", files::study.name), study, log);
  };
  save();
  const InterruptGuard interrupt;
  const CheckpointSignal checkpoint;
  study::StudyProgress progress(log, "trainings");
  for (const auto& [ranks, numbers] : by_ranks) {
    record::Study part = study;
    part.ranks = static_cast<int>(ranks);
    const auto changed = [&] {
      study.members = part.members;
      save();
    };
    const study::MemberSetting setting = member_setting(job, folder, most_ranks(plan), ranks);
    if (!study::train_members(setting, plan.study, numbers, part, progress, requests(), changed))
      return false;
    changed();
  }
  return true;
}

// More ranks than cores take turns: their times say little about an exchange.
void warn_of_few_cores(const Job& job, const study::ConvergencePlan& plan, core::Log& log) {
  const std::int64_t cores = nn::allowed_processors(), most = most_ranks(plan);
  if (most > cores && job.of<study::EnsembleConfig>().launcher == study::EnsembleConfig{}.launcher)
    log.warning("ranks-share-cores",
                core::text(most, " ranks share ", cores, cores == 1 ? " core" : " cores",
                           " (they take turns: residuals by epoch stand, times and rates say "
                           "little). Compare times on a machine with a core for each rank."));
}

}  // namespace

core::ExitCode convergence(const Workloads& workloads, const Arguments& arguments) {
  // options are short for keys, so that the study's config says all
  std::vector<std::string> assignments = arguments.assignments;
  assign_options(assignments, arguments, "convergence",
                 {"exchanges", "outer-periods", "over-ranks"}, true);
  assign_options(assignments, arguments, "convergence", {"ranks", "members", "batch"});
  Job job = run::read_job(workloads, arguments.source, assignments);
  core::Log log;
  say_without_effect(workloads, job, arguments,
                     {.command = "convergence", .ranks = job.of<study::ConvergenceConfig>().ranks},
                     log);
  const study::ConvergencePlan plan =
      study::plan_convergence(workloads, arguments.source, assignments, job);
  const auto data = problem::load_data(*job.workload, job.settings.data, job.seed());
  const std::vector<analysis::Target> targets = study::convergence_targets(job, data.all(), log);
  // variants differ in exchanges and batches alone, so what one training refuses, all would
  const run::TrainingSetup tried(job, data.training(), job.seed());
  const record::OpenedRun opened =
      study::open_study(job, "convergence", data.print(), start_of(arguments),
                        {"convergence.members", "convergence.redrawn"});
  const record::RunDirectory& folder = opened.directory;
  log.add_file(folder.file(files::log.name));
  record::write_environment(
      folder.file(files::environment.name),
      run::run_environment(*arguments.ranks, static_cast<int>(job.settings.threads)));
  folder.folder(files::members.name);
  core::write_file(folder.file(core::text(files::members.name, "/", files::config.name)),
                   job.training_config);
  warn_of_few_cores(job, plan, log);
  record::Study study = plan.study.study;
  for (record::StudyMember& member : study.members)
    member = study::seen_on_disk(folder.path(), member);
  log.info(core::text(opened.resumed ? "going on with " + folder.path() + ": " : "",
                      plan.variants.size(), " ways of training ", job.settings.workload, ", ",
                      job.of<study::ConvergenceConfig>().members,
                      " members each: ", study.members.size(), " trainings, ",
                      study::count(study, State::done), " of them done"));
  const bool finished = train_all(job, folder.path(), plan, study, log);
  const bool analysed =
      study::write_convergence(job, folder.path(), plan, study, targets, std::cout, log);
  study::say_failures(study, std::cout);
  std::cout << "run folder: " << folder.path() << std::endl;
  const bool stopped = !finished || study::count(study, State::pending) > 0;
  const bool failed = !analysed || study::count(study, State::failed) > 0;
  folder.finish(stopped  ? record::RunStatus::stopped
                : failed ? record::RunStatus::failed
                         : record::RunStatus::finished);
  if (job.settings.run.figures) say_report(run::write_run_report(folder.path(), log));
  if (stopped) return core::ExitCode::stopped_early;
  return failed ? core::ExitCode::failed : core::ExitCode::done;
}

}  // namespace sagips::cli
