#include <algorithm>
#include <iostream>
#include <optional>

#include "sagips/cli/commands.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/job_ranks.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/run/run_environment.hpp"
#include "sagips/run/run_report.hpp"
#include "sagips/study/ensemble_results.hpp"
#include "sagips/study/group_members.hpp"
#include "sagips/study/learning_results.hpp"
#include "sagips/study/over_ranks.hpp"
#include "sagips/study/study_folder.hpp"

namespace sagips::cli {

namespace {

using State = record::StudyMember::State;
namespace files = record::run_files;

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

// members: those that are to be trained here; sharing: ranks that use the same processors
study::MemberSetting member_setting(const Job& job, const std::string& folder, std::size_t members,
                                    int sharing) {
  const study::EnsembleConfig& config = job.of<study::EnsembleConfig>();
  const int cores = std::max(1, nn::allowed_processors() / sharing);
  const auto ranks = static_cast<std::size_t>(config.ranks);
  study::MemberSetting setting{folder, 1, 1, config.launcher};
  setting.threads = study::threads_of_member(job, members * ranks, cores);
  const std::size_t taken = static_cast<std::size_t>(setting.threads) * ranks;
  setting.at_once = config.at_once > 0
                        ? static_cast<std::size_t>(config.at_once)
                        : std::max<std::size_t>(1, static_cast<std::size_t>(cores) / taken);
  return setting;
}

/// One ensemble on this rank, from its plan to its table.
class EnsembleRun {
 public:
  EnsembleRun(const Workloads& workloads, const Arguments& arguments, const Job& job,
              study::StudyPlan plan, const std::string& data, core::Log log)
      : workloads_(workloads),
        job_(job),
        ranks_(*arguments.ranks),
        plan_(std::move(plan)),
        log_(std::move(log)) {
    if (ranks_.is_first()) {
      std::vector<std::string> may_change = {"ensemble.at_once", "ensemble.draws",
                                             "ensemble.launcher"};
      // other numbers of folds are other parts of the rows
      if (job.of<study::EnsembleConfig>().vary != study::EnsembleConfig::Vary::folds)
        may_change.insert(may_change.end(), {"ensemble.members", "ensemble.vary"});
      opened_.emplace(study::open_study(job, "ensemble", data, start_of(arguments), may_change));
      log_.add_file(opened_->directory.file(files::log.name));
      opened_->directory.folder(core::text(files::members.name, "/logs"));
      core::write_file(
          opened_->directory.file(core::text(files::members.name, "/", files::config.name)),
          job.training_config);
      record::write_environment(
          opened_->directory.file(files::environment.name),
          run::run_environment(ranks_, static_cast<int>(job.settings.threads)));
    }
    folder_ = ranks_.broadcast(opened_ ? opened_->directory.path() : std::string());
    study_ = plan_.study;
    for (record::StudyMember& member : study_.members)
      member = study::seen_on_disk(folder_, member);
    save();
  }

  const std::string& folder() const { return folder_; }
  const record::Study& study() const { return study_; }
  core::Log& log() { return log_; }

  /// Returns false when it was interrupted. collective
  bool train() {
    const InterruptGuard interrupt;
    const CheckpointSignal checkpoint;
    study::StudyProgress progress(log_, "trainings");
    ranks_.timeout().set_config({.timeout_s = job_.settings.ranks.timeout_s, .alarmed = {}});
    const study::SignsOfLife signs(ranks_);
    const bool in_groups = ranks_.size() > 1 && study_.ranks > 1;
    const bool finished = in_groups ? train_groups(progress) : train_children(progress);
    return take_over(finished);
  }

  void finish(bool finished) {
    const bool failed = study::count(study_, State::failed) > 0;
    opened_->directory.finish(!finished || study::count(study_, State::pending) > 0
                                  ? record::RunStatus::stopped
                              : failed ? record::RunStatus::failed
                                       : record::RunStatus::finished);
  }

 private:
  void save() {
    if (ranks_.is_first())
      study::save_study(opened_->directory.file(files::study.name), study_, log_);
  }

  std::vector<std::size_t> pending() const {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < study_.members.size(); ++i)
      if (study_.members[i].state == State::pending) numbers.push_back(i);
    return numbers;
  }

  void say_start(const study::MemberSetting& setting, const std::string& how) {
    if (!ranks_.is_first()) return;
    log_.info(core::text(opened_->resumed ? "going on with " : "", folder_, ": ",
                         study_.members.size(), " trainings of ", job_.settings.workload, ", ",
                         study::count(study_, State::done), " of them done; ", how, ", each on ",
                         study_.ranks, study_.ranks == 1 ? " rank" : " ranks", " with ",
                         setting.threads, setting.threads == 1 ? " thread" : " threads"));
  }

  bool train_children(study::StudyProgress& progress) {
    const auto all = pending();
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i % static_cast<std::size_t>(ranks_.size()) == static_cast<std::size_t>(ranks_.rank()))
        mine.push_back(all[i]);
    const study::MemberSetting setting =
        member_setting(job_, folder_, mine.size(), run::ranks_on_these_processors(ranks_));
    std::string how = core::text(setting.at_once, " at a time");
    if (ranks_.size() > 1) how += core::text(" on each of ", ranks_.size(), " ranks");
    say_start(setting, how);
    handled_ = mine;
    return study::train_members(setting, plan_, mine, study_, progress, requests(),
                                [this] { save(); });
  }

  bool train_groups(study::StudyProgress& progress) {
    const int groups = ranks_.size() / study_.ranks;
    const int sharing = run::ranks_on_these_processors(ranks_);
    const study::MemberSetting setting =
        member_setting(job_, folder_, static_cast<std::size_t>(groups), sharing);
    const int idle = ranks_.size() - groups * study_.ranks;
    say_start(setting, core::text("in ", groups, groups == 1 ? " group" : " groups",
                                  idle > 0 ? core::text(" (", idle, " ranks stay idle)") : ""));
    return study::train_in_groups(
        workloads_, setting, plan_, pending(), study_, ranks_, sharing, requests(),
        [&](std::size_t i) {
          handled_.push_back(i);
          const record::StudyMember& member = study_.members[i];
          if (member.state == State::failed)
            progress.warning("member-failed", core::text(member.name, " failed: ", member.reason));
          else
            progress.info(core::text(member.name,
                                     member.state == State::done ? ": done" : ": stopped early"));
          save();
        });
  }

  // Rank 0 takes over what became of the others' members. collective
  bool take_over(bool finished) {
    record::Study mine = study_;
    mine.members.clear();
    for (const std::size_t i : handled_) mine.members.push_back(study_.members[i]);
    mine.kind = finished ? "finished" : "interrupted";
    for (const std::string& text : study::collect_texts(ranks_, record::study_text(mine))) {
      const record::Study other = record::parse_study(text, "another rank's study");
      finished = finished && other.kind == "finished";
      for (const record::StudyMember& member : other.members)
        for (record::StudyMember& own : study_.members)
          if (own.name == member.name) own = member;
    }
    save();
    return finished;
  }

  const Workloads& workloads_;
  const Job& job_;
  comm::Ranks& ranks_;
  study::StudyPlan plan_;
  core::Log log_;
  std::optional<record::OpenedRun> opened_;
  std::string folder_;
  record::Study study_;
  std::vector<std::size_t> handled_;
};

void check_ranks(const Job& job, const comm::Ranks& ranks) {
  const std::int64_t wanted = job.of<study::EnsembleConfig>().ranks;
  if (wanted == 1 || ranks.size() == 1) return;
  if (ranks.size() < wanted)
    throw core::ConfigError("ensemble.ranks",
                            core::text("a member takes ", wanted, " ranks, and ", ranks.size(),
                                       " were started (no member could begin). Start more, or "
                                       "lower it."));
  if (study::groups_cross_nodes(ranks, wanted))
    throw core::ConfigError("ensemble.ranks",
                            core::text("members of ", wanted,
                                       " ranks would span nodes and share them with others (Open "
                                       "MPI 4 confuses their windows). Choose a number that "
                                       "divides the ranks of a node, or whole nodes."));
}

}  // namespace

core::ExitCode ensemble(const Workloads& workloads, const Arguments& arguments) {
  comm::Ranks& ranks = *arguments.ranks;
  const std::vector<std::string> assignments = study_assignments(arguments);
  Job job = run::read_any_job(workloads, arguments.source, assignments);
  const study::EnsembleConfig& config = job.of<study::EnsembleConfig>();
  run::Usage usage{.command = "ensemble",
                   .ranks = config.ranks,
                   .waiting_ranks = ranks.size(),
                   .folds = config.vary == study::EnsembleConfig::Vary::folds};
  for (const std::string& axis : config.grid)
    usage.varied.push_back(core::split(axis, '=').front());
  core::Log log({.quiet = arguments.quiet});
  say_without_effect(workloads, job, arguments, usage, log);
  check_ranks(job, ranks);
  run::check_agreement(ranks, job.effective_config);
  study::StudyPlan plan = study::plan_ensemble(workloads, arguments.source, assignments, job);
  std::string data;
  if (ranks.is_first()) {
    run::VariedKeys varied(usage.varied, usage);
    data = study::try_variants(workloads, arguments.source, assignments, plan.study, varied);
    if (const std::string line = varied.remark(); !line.empty())
      log.warning("without-effect", line);
  }
  EnsembleRun run(workloads, arguments, job, std::move(plan), data, std::move(log));
  const bool finished = run.train();
  if (!ranks.is_first()) return core::ExitCode::done;

  std::vector<std::string> looked = assignments;
  looked.emplace_back("generator.finish=networks");  // the ensemble's answer is judged as it is
  const auto job_of_variant = [&](const record::StudyVariant& variant) {
    std::vector<std::string> all = looked;
    all.insert(all.end(), variant.assignments.begin(), variant.assignments.end());
    return run::read_job(workloads, arguments.source, all);
  };
  const bool analysed =
      job.examples
          ? study::write_learning_ensemble(job, run.folder(), run.study(), std::cout, run.log())
          : study::write_ensemble(run::read_job(workloads, arguments.source, looked),
                                  job_of_variant, run.folder(), run.study(), std::cout, run.log());
  study::say_failures(run.study(), arguments.quiet ? std::cerr : std::cout);
  say_folder(arguments, run.folder());
  run.finish(finished);
  if (job.settings.run.figures) say_report(run::write_run_report(run.folder(), run.log()));
  if (!finished || study::count(run.study(), State::pending) > 0)
    return core::ExitCode::stopped_early;
  return analysed && study::count(run.study(), State::failed) == 0 ? core::ExitCode::done
                                                                   : core::ExitCode::failed;
}

}  // namespace sagips::cli
