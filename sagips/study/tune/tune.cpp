#include "sagips/study/tune/tune.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/study/members.hpp"
#include "sagips/study/tune/objective.hpp"
#include "sagips/study/tune/trial_queue.hpp"
#include "sagips/study/tune/trial_table.hpp"
#include "sagips/study/tune/tune_plan.hpp"
#include "sagips/study/tune/tune_results.hpp"
#include "sagips/study/tune/tune_workers.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;
using core::text;

// assignments: what a worker does in its own way
run::Job job_of_study(const run::Workloads& workloads, const std::string& folder,
                      const std::vector<std::string>& assignments = {}) {
  const std::string config = text(folder, "/", files::config.name);
  if (!std::filesystem::exists(training_config_of(folder)))
    throw core::ConfigError(folder,
                            "holds no study of `sagips tune`. Begin one with `sagips tune CONFIG`, "
                            "and name its folder.");
  const std::vector<std::string> own = keys_of_workers();
  for (const std::string& one : assignments)
    if (const std::string key = one.substr(0, one.find('='));
        std::find(own.begin(), own.end(), key) == own.end())
      throw core::ConfigError(
          key, text("stands in the folder of the search that this worker joins (", folder,
                    "). A worker may set ", core::join(own, ", "), "."));
  return run::read_any_job(workloads, config, assignments);
}

TuneStudy study_of(const run::Workloads& workloads, const std::string& folder, const run::Job& job,
                   comm::Ranks& ranks) {
  return {workloads,
          folder,
          job.settings.workload,
          job.of<TuneConfig>(),
          run::ranks_on_these_processors(ranks),
          job.as<Objective>() != nullptr};
}

run::Usage usage_of(const TuneConfig& config, const comm::Ranks& ranks) {
  run::Usage usage{.command = "tune",
                   .ranks = config.ranks_of_training(),
                   .waiting_ranks = config.ranks,
                   .in_blocks = ranks.size() > 1,
                   .folds = config.folds > 1};
  for (const TunedKey& tuned : config.space) usage.varied.push_back(tuned.key);
  return usage;
}

/// A search at work on this rank.
class Tuning {
 public:
  /// run: of the search that was begun here; null: a worker has joined it
  Tuning(const run::Job& job, TuneStudy study, StudyRun* run, comm::Ranks& ranks,
         const TuneOptions& options, core::Log& log)
      : job_(job),
        study_(std::move(study)),
        config_(study_.config),
        run_(run),
        ranks_(ranks),
        options_(options),
        log_(log) {}

  TuneEnd operator()() {
    bool finished = false;
    options_.requests.begun();
    try {
      finished = work();
    } catch (const AllFailed& problem) {  // what there is, is shown
      throw SearchFailed(problem, ranks_.is_first() ? conclude(false) : TuneEnd());
    }
    return ranks_.is_first() ? conclude(finished) : TuneEnd();
  }

 private:
  /// Returns false when it was interrupted. collective
  bool work() {
    const auto queue = [this] {
      return TrialQueue(config_, study_.folder, runs_of(study_), job_.seed(),
                        job_.settings.loop.epochs);
    };
    TrialLog told(config_, log_);
    TuneWatch watch;
    if (ranks_.is_first())
      watch = [&](const auto& trials) {
        told.look(trials);
        if (options_.show) options_.show(trials, config_);
      };
    if (ranks_.size() > 1 || options_.program.empty()) {
      say_start(text("in ", ranks_.size() / config_.ranks, " blocks of ", config_.ranks,
                     config_.ranks == 1 ? " rank" : " ranks"));
      ranks_.timeout().set_config({.timeout_s = job_.settings.ranks.timeout_s, .alarmed = {}});
      std::vector<std::string> varied;
      for (const TunedKey& key : config_.space) varied.push_back(key.key);
      run::read_for_all(job_, varied, ranks_);
      return run_trials_in_blocks(study_, queue, ranks_, options_.requests, watch);
    }
    const int cores = nn::allowed_processors();
    const auto ranks = static_cast<std::size_t>(config_.ranks);
    const int threads =
        threads_of_member(job_, static_cast<std::size_t>(config_.all_trials()) * ranks, cores);
    const std::size_t at_once =
        at_once_of(config_.at_once, cores, static_cast<std::size_t>(threads) * ranks);
    say_start(text(at_once, " at a time"));
    TrialQueue one = queue();
    return run_trials_in_children(study_, one, options_.program, at_once, threads,
                                  options_.requests, watch);
  }

  TuneEnd conclude(bool finished) {
    using State = StudyEnd::State;
    record::TrialStore store(records_of(study_.folder), config_.lease_s);
    TuneEnd end;
    end.folder = study_.folder;
    end.trials = store.read();
    write_tune_results(study_, job_, end, log_);
    const bool are_left = trials_are_left(end.trials, config_);
    if (finished && are_left)
      log_.info(text("the time limit came before all ", config_.all_trials(),
                     " trials had begun; the same command goes on"));
    if (run_) end.page = run_->finish(finished && !are_left ? State::complete : State::stopped);
    end.state = StudyEnd::state_of(!finished, !end.best);
    if (!finished) end.remarks += "stopped: the same command goes on\n";
    return end;
  }

  void say_start(const std::string& how) {
    if (!ranks_.is_first()) return;
    record::TrialStore store(records_of(study_.folder), config_.lease_s);
    const std::size_t begun = store.read().size();
    log_.info(text(
        run_ && run_->resumed() ? "going on with " : "", study_.folder, ": ", config_.all_trials(),
        " trials of ", job_.settings.workload, ", ", begun, " of them begun; ", how,
        config_.side_by_side == 1 ? ""
                                  : text(", each training on ", config_.ranks_of_training(), " of ",
                                         config_.ranks, " ranks")));
  }

  const run::Job& job_;
  TuneStudy study_;
  const TuneConfig& config_;
  StudyRun* run_;
  comm::Ranks& ranks_;
  const TuneOptions& options_;
  core::Log& log_;
};

}  // namespace

TuneEnd tune(const run::Workloads& known, const std::string& source,
             const std::vector<std::string>& assignments, comm::Ranks& ranks,
             const TuneOptions& options, core::Log& log) {
  const run::Workloads workloads = run::keeping_examples(known);
  run::Job job = run::read_any_job(workloads, source, assignments);
  const TuneConfig& config = job.of<TuneConfig>();
  config.check();
  run::check_agreement(ranks, job.effective_config);
  check_blocks(config, ranks);
  const run::Usage usage = usage_of(config, ranks);
  std::string data;
  if (ranks.is_first()) data = check_tuning(workloads, source, assignments, job, usage, log);
  run::warn_without_effect(workloads, job, usage, ranks, log);
  StudyRun run(job, ranks, log, "tune", data, options.start, keys_of_workers(),
               static_cast<int>(job.settings.threads));
  if (ranks.is_first()) {
    run.write_training_config(files::trials.name);
    run.folder().folder(text(files::trials.name, "/logs"));
  }
  return Tuning(job, study_of(workloads, run.path(), job, ranks), &run, ranks, options, log)();
}

TuneEnd join_tuning(const run::Workloads& known, const std::string& folder,
                    const std::vector<std::string>& assignments, comm::Ranks& ranks,
                    const TuneOptions& options, core::Log& log) {
  const run::Workloads workloads = run::keeping_examples(known);
  run::Job job = job_of_study(workloads, folder, assignments);
  const TuneConfig& config = job.of<TuneConfig>();
  config.check();
  run::check_agreement(ranks, job.effective_config);
  check_blocks(config, ranks);
  run::warn_without_effect(workloads, job, usage_of(config, ranks), ranks, log);
  return Tuning(job, study_of(workloads, folder, job, ranks), nullptr, ranks, options, log)();
}

bool tune_trial(const run::Workloads& known, const std::string& folder, std::int64_t trial,
                std::int64_t attempt, comm::Ranks& ranks, const run::Requests& requests,
                core::Log& log) {
  const run::Workloads workloads = run::keeping_examples(known);
  const run::Job job = job_of_study(workloads, folder);
  const TuneConfig& config = job.of<TuneConfig>();
  if (ranks.size() != config.ranks)
    throw core::ConfigError("tune.launcher", text("has started ", ranks.size(),
                                                  " ranks of one job where a trial "
                                                  "has ",
                                                  config.ranks,
                                                  ". Say {ranks} in it, and start them "
                                                  "with the MPI that SAGIPS was built with."));
  check_blocks(config, ranks);
  ranks.timeout().set_config({.timeout_s = job.settings.ranks.timeout_s, .alarmed = {}});
  const TuneStudy study = study_of(workloads, folder, job, ranks);
  record::TrialStore store(records_of(folder), config.lease_s);
  if (ranks.is_first() && !store.read().contains(trial))
    throw core::ConfigError("--trial", text("'", trial, "' is no trial of ", folder, "."));
  return run_trial(study, store, trial, attempt, ranks, requests, log);
}

std::size_t export_tuning(const run::Workloads& workloads, const std::string& folder,
                          const std::string& file) {
  const run::Job job = job_of_study(workloads, folder);
  const TuneConfig& config = job.of<TuneConfig>();
  record::TrialStore store(records_of(folder), config.lease_s);
  const std::string path = std::filesystem::path(folder).lexically_normal().string();
  export_to_optuna({workloads, path, job.settings.workload, config}, store.read(), file);
  return store.trials().size();
}

}  // namespace sagips::study
