#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>

#include "sagips/cli/commands.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/run/run_environment.hpp"
#include "sagips/run/run_report.hpp"
#include "sagips/study/members.hpp"
#include "sagips/study/study_folder.hpp"
#include "sagips/study/tune/tune_board.hpp"
#include "sagips/study/tune/tune_plan.hpp"
#include "sagips/study/tune/tune_results.hpp"
#include "sagips/study/tune/tune_workers.hpp"

namespace sagips::cli {

namespace {

namespace files = record::run_files;

// assignments: what a worker does in its own way
Job job_of_study(const Workloads& workloads, const std::string& folder,
                 const std::vector<std::string>& assignments = {}) {
  const std::string config = core::text(folder, "/", files::config.name);
  if (!std::filesystem::exists(study::training_config_of(folder)))
    throw core::ConfigError(folder,
                            "holds no study of `sagips tune`. Begin one with `sagips tune CONFIG`, "
                            "and name its folder.");
  const std::vector<std::string> own = study::keys_of_workers();
  for (const std::string& one : assignments)
    if (const std::string key = one.substr(0, one.find('='));
        std::find(own.begin(), own.end(), key) == own.end())
      throw core::ConfigError(
          key, core::text("stands in the folder of the search that this worker joins (", folder,
                          "). A worker may set ", core::join(own, ", "), "."));
  return run::read_any_job(workloads, config, assignments);
}

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
  const Job job = job_of_study(workloads, arguments.source);
  const auto& config = job.of<study::TuneConfig>();
  comm::Ranks& ranks = *arguments.ranks;
  if (ranks.size() != config.ranks)
    throw core::ConfigError("tune.launcher",
                            core::text("has started ", ranks.size(),
                                       " ranks of one job where a trial "
                                       "has ",
                                       config.ranks,
                                       ". Say {ranks} in it, and start them "
                                       "with the MPI that SAGIPS was built with."));
  study::check_blocks(config, ranks);
  ranks.timeout().set_config({.timeout_s = job.settings.ranks.timeout_s, .alarmed = {}});
  const study::TuneStudy study{workloads, arguments.source, job.settings.workload, config,
                               run::ranks_on_these_processors(ranks)};
  record::TrialStore store(study::records_of(study.folder), config.lease_s);
  const InterruptGuard interrupt;
  const CheckpointSignal checkpoint;
  core::Log log;
  const std::int64_t trial = number_of(arguments, "trial");
  const std::int64_t attempt = number_of(arguments, "attempt");
  if (ranks.is_first() && !store.read().contains(trial))
    throw core::ConfigError("--trial",
                            core::text("'", trial, "' is no trial of ", arguments.source, "."));
  return study::run_trial(study, store, trial, attempt, ranks, requests(), log)
             ? core::ExitCode::done
             : core::ExitCode::stopped_early;
}

core::ExitCode export_trials(const Workloads& workloads, const Arguments& arguments) {
  const Job job = job_of_study(workloads, arguments.source);
  const auto& config = job.of<study::TuneConfig>();
  record::TrialStore store(study::records_of(arguments.source), config.lease_s);
  const std::string file = option(arguments, "export-optuna");
  study::export_to_optuna(
      {workloads, std::filesystem::path(arguments.source).lexically_normal().string(),
       job.settings.workload, config},
      store.read(), file);
  std::cout << store.read().size() << " trials for Optuna: " << file << '\n';
  return core::ExitCode::done;
}

/// A study on this rank: its folder, its workers, what comes out of it.
class Tuning {
 public:
  Tuning(const Workloads& workloads, const Arguments& arguments, const Job& job)
      : workloads_(workloads),
        job_(job),
        config_(job.of<study::TuneConfig>()),
        ranks_(*arguments.ranks),
        log_({.quiet = arguments.quiet}) {}

  /// Makes the folder or goes on with it. data: what tells the events from others. collective
  void open(const std::string& data, record::Start start) {
    if (ranks_.is_first()) {
      opened_.emplace(study::open_study(job_, "tune", data, start, study::keys_of_workers()));
      const record::RunDirectory& folder = opened_->directory;
      log_.add_file(folder.file(files::log.name));
      folder.folder(core::text(files::trials.name, "/logs"));
      core::write_file(study::training_config_of(folder.path()), job_.training_config);
      record::write_environment(
          folder.file(files::environment.name),
          run::run_environment(ranks_, static_cast<int>(job_.settings.threads)));
    }
    join(ranks_.broadcast(opened_ ? opened_->directory.path() : std::string()));
  }

  /// Works for a study that is there.
  void join(const std::string& folder) {
    folder_ = folder;
    study_.emplace(study::TuneStudy{workloads_, folder_, job_.settings.workload, config_,
                                    run::ranks_on_these_processors(ranks_)});
  }

  /// Returns false when it was interrupted. collective
  bool work() {
    const InterruptGuard interrupt;
    const CheckpointSignal checkpoint;
    const auto giver = [this] {
      return study::TrialGiver(config_, folder_, study::runs_of(*study_), job_.seed(),
                               job_.settings.loop.epochs);
    };
    std::optional<study::TuneBoard> board;
    study::TuneWatch watch;
    if (ranks_.is_first()) {
      board.emplace(config_, log_);
      watch = [&](const auto& trials) { board->show(trials); };
    }
    if (ranks_.size() > 1) {
      say_start(core::text("in ", ranks_.size() / config_.ranks, " blocks of ", config_.ranks,
                           config_.ranks == 1 ? " rank" : " ranks"));
      ranks_.timeout().set_config({.timeout_s = job_.settings.ranks.timeout_s, .alarmed = {}});
      return study::run_trials_in_blocks(*study_, giver, ranks_, requests(), watch);
    }
    const int cores = nn::allowed_processors();
    const auto ranks = static_cast<std::size_t>(config_.ranks);
    const int threads = study::threads_of_member(
        job_, static_cast<std::size_t>(config_.all_trials()) * ranks, cores);
    const std::size_t taken = static_cast<std::size_t>(threads) * ranks;
    const std::size_t at_once =
        config_.at_once > 0 ? static_cast<std::size_t>(config_.at_once)
                            : std::max<std::size_t>(1, static_cast<std::size_t>(cores) / taken);
    say_start(core::text(at_once, " at a time"));
    study::TrialGiver one = giver();
    return study::run_trials_in_children(*study_, one, at_once, threads, requests(), watch);
  }

  /// What was found, on the first rank.
  core::ExitCode conclude(bool finished, const Arguments& arguments) {
    record::TrialStore store(study::records_of(folder_), config_.lease_s);
    const auto& trials = store.read();
    const bool found = study::write_tune_results(*study_, job_, trials, std::cout, log_);
    say_folder(arguments, folder_);
    const bool are_left = study::trials_are_left(trials, config_);
    if (finished && are_left)
      log_.info(core::text("the time limit came before all ", config_.all_trials(),
                           " trials had begun; the same command goes on"));
    if (opened_)
      opened_->directory.finish(finished && !are_left ? record::RunStatus::finished
                                                      : record::RunStatus::stopped);
    if (opened_ && job_.settings.run.figures) say_report(run::write_run_report(folder_, log_));
    if (!finished) return core::ExitCode::stopped_early;
    return found ? core::ExitCode::done : core::ExitCode::failed;
  }

  core::Log& log() { return log_; }

 private:
  void say_start(const std::string& how) {
    if (!ranks_.is_first()) return;
    record::TrialStore store(study::records_of(folder_), config_.lease_s);
    const std::size_t begun = store.read().size();
    log_.info(core::text(
        opened_ && opened_->resumed ? "going on with " : "", folder_, ": ", config_.all_trials(),
        " trials of ", job_.settings.workload, ", ", begun, " of them begun; ", how,
        config_.side_by_side == 1 ? ""
                                  : core::text(", each training on ", config_.ranks_of_training(),
                                               " of ", config_.ranks, " ranks")));
  }

  const Workloads& workloads_;
  const Job& job_;
  const study::TuneConfig& config_;
  comm::Ranks& ranks_;
  core::Log log_;
  std::optional<record::OpenedRun> opened_;
  std::string folder_;
  std::optional<study::TuneStudy> study_;
};

}  // namespace

core::ExitCode tune(const Workloads& workloads, const Arguments& arguments) {
  if (arguments.options.contains("trial")) return run_one(workloads, arguments);
  if (arguments.options.contains("export-optuna")) return export_trials(workloads, arguments);
  comm::Ranks& ranks = *arguments.ranks;
  const bool joins = arguments.options.contains("worker");
  std::vector<std::string> assignments = arguments.assignments;
  assign_options(assignments, arguments, "tune", {"trials", "minutes", "target"});
  if (const std::string block = option(arguments, "block-ranks"); !block.empty())
    assignments.push_back(core::text("tune.ranks=", block));
  Job job = joins ? job_of_study(workloads, arguments.source, assignments)
                  : run::read_any_job(workloads, arguments.source, assignments);
  const study::TuneConfig& config = job.of<study::TuneConfig>();
  config.check();
  run::Usage usage{.command = "tune",
                   .ranks = config.ranks_of_training(),
                   .waiting_ranks = config.ranks,
                   .in_blocks = ranks.size() > 1,
                   .folds = config.folds > 1};
  for (const study::TunedKey& tuned : config.space) usage.varied.push_back(tuned.key);
  Tuning tuning(workloads, arguments, job);
  run::check_agreement(ranks, job.effective_config);
  study::check_blocks(job.of<study::TuneConfig>(), ranks);
  const auto say = [&] {  // behind what is refused
    say_without_effect(workloads, job, arguments, usage, tuning.log());
  };
  if (joins) {
    say();
    tuning.join(arguments.source);
  } else {
    std::string data;
    if (ranks.is_first())
      data =
          study::check_tuning(workloads, arguments.source, assignments, job, usage, tuning.log());
    say();
    tuning.open(data, start_of(arguments));
  }
  bool finished = false;
  try {
    finished = tuning.work();
  } catch (const study::AllFailed&) {  // what there is, is shown
    if (ranks.is_first()) tuning.conclude(false, arguments);
    throw;
  }
  if (!ranks.is_first()) return core::ExitCode::done;
  return tuning.conclude(finished, arguments);
}

}  // namespace sagips::cli
