#include "sagips/study/ensemble.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <utility>

#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/study/ensemble_results.hpp"
#include "sagips/study/group_members.hpp"
#include "sagips/study/over_ranks.hpp"

namespace sagips::study {

namespace {

using State = record::StudyMember::State;
namespace files = record::run_files;
using core::text;

// members: that train here side by side if the cores allow. All that there are, also where some are done: other
// threads would change the last digits of those that are left.
// sharing: ranks that use the same processors
MemberSetting member_setting(const run::Job& job, const std::string& folder, std::size_t members,
                             int sharing, const std::vector<std::string>& program) {
  const EnsembleConfig& config = job.of<EnsembleConfig>();
  const int cores = std::max(1, nn::allowed_processors() / sharing);
  const auto ranks = static_cast<std::size_t>(config.ranks);
  MemberSetting setting{.folder = folder,
                        .ranks = static_cast<int>(config.ranks),
                        .launcher = config.launcher,
                        .program = program};
  setting.threads = threads_of_member(job, members * ranks, cores);
  setting.at_once =
      at_once_of(config.at_once, cores, static_cast<std::size_t>(setting.threads) * ranks);
  return setting;
}

std::vector<std::string> keys_that_may_change(const run::Job& job) {
  std::vector<std::string> keys = {"ensemble.at_once", "ensemble.draws", "ensemble.launcher"};
  // other numbers of folds are other parts of the rows
  if (job.of<EnsembleConfig>().vary != EnsembleConfig::Vary::folds)
    keys.insert(keys.end(), {"ensemble.members", "ensemble.vary"});
  return keys;
}

/// The members of one ensemble on this rank, from its plan to their end.
class Members {
 public:
  Members(const run::Workloads& workloads, const run::Job& job, comm::Ranks& ranks,
          const StudyPlan& plan, const StudyRun& run, const StudyOptions& options, core::Log& log)
      : workloads_(workloads),
        job_(job),
        ranks_(ranks),
        plan_(plan),
        run_(run),
        options_(options),
        log_(log),
        study_(plan.study) {
    if (ranks_.is_first()) {
      for (record::StudyMember& member : study_.members) member = seen_on_disk(run_.path(), member);
      std::filesystem::remove_all(claims_);
      save();
    }
    // no rank looks on its own: what an earlier start has left may just come to its end
    study_ = record::parse_study(ranks_.broadcast(record::study_text(study_)), "rank 0's study");
    std::vector<std::size_t> numbers(study_.members.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    queue_.emplace(run_.path(), study_, numbers, ranks_.size() > 1 ? claims_ : "", log_);
  }

  const record::Study& study() const { return study_; }

  /// Returns false when it was interrupted. collective
  bool train() {
    const SignsOfLife signs(ranks_);
    const bool here = options_.program.empty() || (ranks_.size() > 1 && study_.ranks > 1);
    const bool finished = here ? train_groups() : train_children();
    return take_over(finished);
  }

 private:
  void save() {
    if (ranks_.is_first()) save_study(run_.folder().file(files::study.name), study_, log_);
  }

  void say_start(const MemberSetting& setting, const std::string& how) {
    if (!ranks_.is_first()) return;
    log_.info(text(run_.resumed() ? "going on with " : "", run_.path(), ": ", study_.members.size(),
                   " trainings of ", job_.settings.workload, ", ", count(study_, State::done),
                   " of them done; ", how, ", each on ", study_.ranks,
                   study_.ranks == 1 ? " rank" : " ranks", " with ", setting.threads,
                   setting.threads == 1 ? " thread" : " threads"));
  }

  bool train_children() {
    if (job_.kept) *job_.kept = {};  // each child reads its own
    const auto ranks = static_cast<std::size_t>(ranks_.size());
    const MemberSetting setting =
        member_setting(job_, run_.path(), (study_.members.size() + ranks - 1) / ranks,
                       run::ranks_on_these_processors(ranks_), options_.program);
    std::string how = text(setting.at_once, " at a time");
    if (ranks_.size() > 1) how += text(" on each of ", ranks_.size(), " ranks");
    say_start(setting, how);
    return train_members(
        setting, plan_, study_, *queue_, options_, [this] { save(); }, log_);
  }

  bool train_groups() {
    const int groups = ranks_.size() / study_.ranks;
    const int sharing = run::ranks_on_these_processors(ranks_);
    const MemberSetting setting =
        member_setting(job_, run_.path(), static_cast<std::size_t>(groups), sharing, {});
    const int idle = ranks_.size() - groups * study_.ranks;
    say_start(setting, text("in ", groups, groups == 1 ? " group" : " groups",
                            idle > 0 ? text(" (", idle, " ranks stay idle)") : ""));
    std::vector<std::string> varied;
    for (const std::string& axis : job_.of<EnsembleConfig>().grid)
      varied.push_back(core::split(axis, '=').front());
    if (!queue_->is_empty()) run::read_for_all(job_, varied, ranks_);
    return train_in_groups(workloads_, setting, plan_, study_, *queue_, ranks_, sharing,
                           options_.requests, [this](std::size_t i) { note_end(i); });
  }

  void note_end(std::size_t number) {
    const record::StudyMember& member = study_.members[number];
    if (member.state == State::failed)
      log_.warning("member-failed", text(member.name, " failed: ", member.reason));
    else
      log_.info(text(member.name, member.state == State::done ? ": done" : ": stopped early"));
    if (options_.progress && ranks_.is_first()) options_.progress(progress_of(study_, 0));
    save();
  }

  // Rank 0 takes over what became of the others' members. collective
  bool take_over(bool finished) {
    record::Study mine = study_;
    mine.members.clear();
    for (const std::size_t i : queue_->taken()) mine.members.push_back(study_.members[i]);
    mine.kind = finished ? "finished" : "interrupted";
    for (const std::string& one : collect_texts(ranks_, record::study_text(mine))) {
      const record::Study other = record::parse_study(one, "another rank's study");
      finished = finished && other.kind == "finished";
      for (const record::StudyMember& member : other.members)
        for (record::StudyMember& own : study_.members)
          if (own.name == member.name) own = member;
    }
    save();
    if (ranks_.is_first()) std::filesystem::remove_all(claims_);
    return finished;
  }

  const run::Workloads& workloads_;
  const run::Job& job_;
  comm::Ranks& ranks_;
  const StudyPlan& plan_;
  const StudyRun& run_;
  const StudyOptions& options_;
  core::Log& log_;
  const std::string claims_ = text(run_.path(), "/", files::members.name, "/claims");
  record::Study study_;
  std::optional<MemberQueue> queue_;
};

void check_ranks(const run::Job& job, const comm::Ranks& ranks, bool has_program) {
  const std::int64_t wanted = job.of<EnsembleConfig>().ranks;
  if (wanted == 1 || (ranks.size() == 1 && has_program)) return;
  if (ranks.size() < wanted)
    throw core::ConfigError("ensemble.ranks",
                            text("a member takes ", wanted, " ranks, and ", ranks.size(),
                                 ranks.size() == 1 ? " was" : " were",
                                 " started (no member could begin). Start more, or lower it."));
  if (groups_cross_nodes(ranks, wanted))
    throw core::ConfigError("ensemble.ranks",
                            text("members of ", wanted,
                                 " ranks would span nodes and share them with others (Open "
                                 "MPI 4 confuses their windows). Choose a number that "
                                 "divides the ranks of a node, or whole nodes."));
}

/// What an ensemble was asked for, and how it is looked at.
struct Asked {
  const run::Workloads& workloads;
  const std::string& source;
  const std::vector<std::string>& assignments;
  run::Job job;
};

// Refuses what a training would, and warns of keys without effect. Returns what tells the data from others.
// collective
std::string try_plan(Asked& asked, const StudyPlan& plan, const run::Usage& usage,
                     comm::Ranks& ranks, core::Log& log) {
  if (!ranks.is_first()) return {};
  run::VariedKeys varied(usage.varied, usage);
  std::string data =
      try_variants(asked.workloads, asked.source, asked.assignments, plan.study, varied);
  if (const std::string line = varied.remark(); !line.empty()) log.warning("without-effect", line);
  return data;
}

EnsembleEnd look_at(const Asked& asked, const std::string& folder, const record::Study& study,
                    core::Log& log) {
  if (asked.job.as<run::LearningProblem>())
    return write_learning_ensemble(asked.job, folder, study, log);
  std::vector<std::string> looked = asked.assignments;
  looked.emplace_back("generator.finish=networks");  // the ensemble's answer is judged as it is
  const auto job_of_variant = [&](const record::StudyVariant& variant) {
    std::vector<std::string> all = looked;
    all.insert(all.end(), variant.assignments.begin(), variant.assignments.end());
    return run::read_job(asked.workloads, asked.source, all);
  };
  return write_ensemble(run::read_job(asked.workloads, asked.source, looked), job_of_variant,
                        folder, study, log);
}

EnsembleEnd conclude(const Asked& asked, StudyRun& run, const record::Study& study, bool finished,
                     core::Log& log) {
  EnsembleEnd end = look_at(asked, run.path(), study, log);
  end.folder = run.path();
  end.state = StudyEnd::state_of(!finished || count(study, State::pending) > 0,
                                 count(study, State::failed) > 0);
  end.page = run.finish(end.state);
  if (end.state == StudyEnd::State::complete && !end.results) end.state = StudyEnd::State::failed;
  end.remarks = failures_of(study) +
                stopped_line(count(study, State::pending), study.members.size(), "trainings");
  end.members = study;
  return end;
}

}  // namespace

EnsembleEnd ensemble(const run::Workloads& known, const std::string& source,
                     const std::vector<std::string>& assignments, comm::Ranks& ranks,
                     const StudyOptions& options, core::Log& log) {
  const run::Workloads workloads = run::keeping_examples(known);
  Asked asked{workloads, source, assignments, run::read_any_job(workloads, source, assignments)};
  const EnsembleConfig& config = asked.job.of<EnsembleConfig>();
  run::Usage usage{.command = "ensemble",
                   .ranks = config.ranks,
                   .waiting_ranks = ranks.size(),
                   .folds = config.vary == EnsembleConfig::Vary::folds};
  for (const std::string& axis : config.grid)
    usage.varied.push_back(core::split(axis, '=').front());
  run::warn_without_effect(workloads, asked.job, usage, ranks, log);
  check_ranks(asked.job, ranks, !options.program.empty());
  run::check_agreement(ranks, asked.job.effective_config);
  const StudyPlan plan = plan_ensemble(workloads, source, assignments, asked.job);
  const std::string data = try_plan(asked, plan, usage, ranks, log);
  StudyRun run(asked.job, ranks, log, "ensemble", data, options.start,
               keys_that_may_change(asked.job), static_cast<int>(asked.job.settings.threads));
  if (ranks.is_first()) {
    run.write_training_config(files::members.name);
    run.folder().folder(text(files::members.name, "/logs"));
  }
  ranks.timeout().set_config({.timeout_s = asked.job.settings.ranks.timeout_s, .alarmed = {}});
  Members members(workloads, asked.job, ranks, plan, run, options, log);
  options.requests.begun();
  const bool finished = members.train();
  if (!ranks.is_first()) return {};
  return conclude(asked, run, members.study(), finished, log);
}

}  // namespace sagips::study
