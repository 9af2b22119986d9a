#include "sagips/study/convergence.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/training_setup.hpp"
#include "sagips/study/convergence_results.hpp"
#include "sagips/study/members.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;

std::int64_t most_ranks(const ConvergencePlan& plan) {
  std::int64_t most = 1;
  for (const analysis::ConvergenceVariant& variant : plan.variants)
    most = std::max(most, variant.ranks);
  return most;
}

// The same threads for each rank of every variant, or their times could not be compared.
MemberSetting setting_of_variant(const run::Job& job, const std::string& folder, std::int64_t most,
                                 std::int64_t ranks, const std::vector<std::string>& program) {
  const int cores = nn::allowed_processors();
  MemberSetting setting{folder, 1, 1, job.of<EnsembleConfig>().launcher, program};
  setting.threads = threads_of_member(job, static_cast<std::size_t>(most), cores);
  setting.at_once = at_once_of(job.of<EnsembleConfig>().at_once, cores,
                               static_cast<std::size_t>(setting.threads * ranks));
  return setting;
}

/// Trains what is pending, few ranks first. Returns false when it was interrupted.
bool train_all(const run::Job& job, const std::string& folder, const ConvergencePlan& plan,
               record::Study& study, const StudyOptions& options, core::Log& log) {
  std::map<std::int64_t, std::vector<std::size_t>> by_ranks;
  for (std::size_t i = 0; i < study.members.size(); ++i)
    by_ranks[plan.variants[plan.variant_of[i]].ranks].push_back(i);
  const auto save = [&] { save_study(core::text(folder, "/", files::study.name), study, log); };
  save();
  options.requests.begun();
  for (const auto& [ranks, numbers] : by_ranks) {
    record::Study part = study;
    part.ranks = static_cast<int>(ranks);
    const auto changed = [&] {
      study.members = part.members;
      save();
    };
    const MemberSetting setting =
        setting_of_variant(job, folder, most_ranks(plan), ranks, options.program);
    if (!train_members(setting, plan.study, numbers, part, options, changed, log)) return false;
    changed();
  }
  return true;
}

// More ranks than cores take turns: their times say little about an exchange.
void warn_of_few_cores(const run::Job& job, const ConvergencePlan& plan, core::Log& log) {
  const std::int64_t cores = nn::allowed_processors(), most = most_ranks(plan);
  if (most > cores && job.of<EnsembleConfig>().launcher == EnsembleConfig{}.launcher)
    log.warning("ranks-share-cores",
                core::text(most, " ranks share ", cores, cores == 1 ? " core" : " cores",
                           " (they take turns: residuals by epoch stand, times and rates say "
                           "little). Compare times on a machine with a core for each rank."));
}

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
  end.remarks = failures_of(study);
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
  const auto data = problem::load_data(*job.inverse().workload, job.inverse().data, job.seed());
  const std::vector<analysis::Target> targets = convergence_targets(job, data.all(), log);
  // variants differ in exchanges and batches alone, so what one training refuses, all would
  const run::TrainingSetup tried(job, data.training(), job.seed());
  StudyRun run(job, ranks, log, "convergence", data.fingerprint(), options.start,
               {"convergence.members", "convergence.redrawn"},
               static_cast<int>(job.settings.threads));
  run.write_training_config(files::members.name);
  warn_of_few_cores(job, plan, log);
  record::Study study = plan.study.study;
  for (record::StudyMember& member : study.members) member = seen_on_disk(run.path(), member);
  log.info(core::text(run.resumed() ? core::text("going on with ", run.path(), ": ") : "",
                      plan.variants.size(), " ways of training ", job.settings.workload, ", ",
                      config.members, " members each: ", study.members.size(), " trainings, ",
                      count(study, record::StudyMember::State::done), " of them done"));
  const bool finished = train_all(job, run.path(), plan, study, options, log);
  return conclude(job, plan, run, targets, std::move(study), finished, log);
}

}  // namespace sagips::study
