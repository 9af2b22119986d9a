#include "sagips/study/tune/run_trial.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "sagips/analysis/lookup.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_directory.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/train.hpp"
#include "sagips/study/group_members.hpp"
#include "sagips/study/members.hpp"
#include "sagips/study/over_ranks.hpp"
#include "sagips/study/tune/early_end.hpp"
#include "sagips/study/tune/next_trial.hpp"
#include "sagips/study/tune/objective.hpp"

namespace sagips::study {

namespace {

namespace files = record::run_files;
using core::text;
using State = record::TrialEnd::State;

// What the first rank knows of a trial, for all of them.
struct Work {
  std::int64_t number = 0, attempt = 0, from = 0;
  std::vector<std::string> settings{};
};

Work share_out(Work work, comm::Ranks& ranks) {
  const std::vector<std::string> lines = core::split(
      ranks.broadcast(text(work.attempt, "\n", work.from, "\n", core::join(work.settings, "\n"))),
      '\n');
  work.attempt = std::stoll(lines.at(0));
  work.from = std::stoll(lines.at(1));
  work.settings.assign(lines.begin() + 2, lines.end());
  return work;
}

/// One trial on this rank.
class TrialRun {
 public:
  TrialRun(const TuneStudy& study, record::TrialStore& store, Work work, comm::Ranks& ranks,
           const run::Requests& requests, core::Log& log)
      : study_(study),
        store_(store),
        work_(std::move(work)),
        ranks_(ranks),
        requests_(requests),
        log_(log) {
    if (ranks_.is_first())
      requests_.stop = [this, &requests] { return requests.stop() || is_lost(); };
  }

  // Nothing: interrupted.
  std::optional<record::TrialEnd> run() {
    if (!(study_.config.side_by_side > 1 ? train_side_by_side() : train_in_turn())) return {};
    record::TrialEnd end;
    if (!ranks_.is_first()) return end;
    const auto summary = summary_of(own());
    end.state = behind_.empty() ? State::done : State::ended_early;
    end.reason = behind_;
    end.value = summary->mean;
    if (study_.config.trainings() > 1) end.spread = summary->spread;
    end.epochs = summary->epochs;
    end.time_s = summary->time_s + time_s_;
    if (!std::isfinite(summary->mean)) {
      end.state = State::failed;
      end.reason = text(study_.config.metric(), " is ", summary->mean, " at its end");
    }
    return end;
  }

 private:
  // Those that no report says to be over.
  std::vector<std::int64_t> open_trainings() {
    std::string open;
    if (ranks_.is_first())
      for (std::int64_t training = 1; training <= study_.config.trainings(); ++training)
        if (!is_over(own(), training)) open += text(training, " ");
    std::istringstream words(ranks_.broadcast(open));
    return {std::istream_iterator<std::int64_t>(words), {}};
  }

  bool train_in_turn() {
    for (const std::int64_t training : open_trainings()) {
      if (!train(training)) return false;
      if (!behind_.empty()) break;
    }
    return true;
  }

  // Each part of the ranks has its share of the trainings, and its first rank reports them. Where one fails,
  // the others of this node stop.
  bool train_side_by_side() {
    const std::vector<std::int64_t> open = open_trainings();
    const auto parts = static_cast<std::size_t>(study_.config.side_by_side);
    const std::size_t part =
        static_cast<std::size_t>(ranks_.rank()) * parts / static_cast<std::size_t>(ranks_.size());
    const SignsOfLife signs(ranks_);
    comm::RankStatus failures(ranks_.communicator());
    run::Requests requests = requests_;
    requests.stop = [&] { return requests_.stop() || failures.failure_claimed(); };
    const auto train_share = [&] {
      comm::Ranks share(ranks_.communicator().split(static_cast<int>(part)));
      share.timeout().set_config(ranks_.timeout().config());
      const SignsOfLife own_signs(share);
      GroupEnd end;
      for (std::size_t i = part; i < open.size() && end.state == GroupEnd::State::done; i += parts)
        end = work_in_group(
            share, log_of(study_.folder, run_name_of(work_.number, open[i], study_.config)),
            [&](comm::Ranks& ranks, core::Log& log) {
              TrialRun run(study_, store_, work_, ranks, requests, log);
              return run.train(open[i]);
            });
      if (end.state == GroupEnd::State::failed) failures.claim_failure();
      return worst_end(ranks_, end);
    };
    const GroupEnd end = train_share();
    if (end.state == GroupEnd::State::failed) throw core::Error(end.reason);
    if (end.state != GroupEnd::State::done || !ranks_.is_first())
      return end.state == GroupEnd::State::done;
    for (std::int64_t training = 1; training <= study_.config.trainings(); ++training)
      if (!wait_until_seen([&] { return is_over(own(), training); })) return false;
    return true;
  }

  // What other nodes have written may be seen later: file systems over a network remember what they knew of
  // a file. false: stopped meanwhile
  bool wait_until_seen(const std::function<bool()>& is_seen) {
    const auto deadline = comm::now_ns() + static_cast<std::int64_t>(study_.config.lease_s * 1e9);
    while (!is_seen()) {
      if (ranks_.is_first() && requests_.stop()) return false;
      if (comm::now_ns() > deadline)
        throw core::StorageError(
            records_of(study_.folder),
            text("does not show what another rank has written of trial ", work_.number, " (",
                 study_.config.lease_s, " s). Look at the file system that the ranks share."));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  // Gives a sign of life: who started this process may be suspended, which costs nothing as long as the
  // trial goes on. It is lost when this process was suspended and another worker has it now.
  bool is_lost() {
    const std::int64_t now = comm::now_ns();
    if (static_cast<double>(now - beaten_ns_) * 1e-9 < study_.config.lease_s / 4) return lost_;
    beaten_ns_ = now;
    store_.beat(work_.number, work_.attempt);
    lost_ = !store_.owns(work_.number, work_.attempt);
    return lost_;
  }

  const record::TrialRecord& own() {
    static const record::TrialRecord nothing;
    const auto found = store_.read().find(work_.number);
    return found != store_.trials().end() ? found->second : nothing;
  }

  run::Job job_of(std::int64_t fold) const {
    std::vector<std::string> all = assignments_of(study_.is_objective, work_.settings);
    const std::string source = training_config_of(study_.folder);
    if (study_.config.folds > 1) all.push_back(text("data.fold=", fold, "/", study_.config.folds));
    all.push_back(text("run.folder=", study_.folder, "/", files::trials.name));
    all.push_back("run.name=" + run_name_of(work_.number, fold, study_.config));
    all.emplace_back("run.figures=false");
    all.emplace_back("run.fit=false");
    all.emplace_back("run.tensorboard=false");
    if (study_.config.seeds > 1) {
      const run::Job first = run::read_any_job(study_.workloads, source, all);
      all.push_back(text("run.seed=", first.settings.run.seed + fold - 1));
    }
    return run::read_any_job(study_.workloads, source, all);
  }

  // A run that has ended without having been reported begins anew. Networks of another trial are what
  // a run goes on with as if it had stopped there.
  // False: another process trains there, whose claim was given back.
  bool make_folder_ready(const std::string& name) {
    const std::string folder = text(runs_of(study_), "/", name);
    if (is_in_use(folder)) return false;
    remove_finished_run(folder);
    if (std::filesystem::exists(folder) || work_.from == 0) return true;
    const std::string other = text(runs_of(study_), "/", run_name_of(work_.from, 1, study_.config));
    const std::string aside = folder + ".new";  // there with all that it holds, or not at all
    std::filesystem::remove_all(aside);
    std::filesystem::create_directories(aside);
    std::filesystem::copy(text(other, "/", files::checkpoints.name),
                          text(aside, "/", files::checkpoints.name),
                          std::filesystem::copy_options::recursive);
    for (const char* file : {files::config.name, files::status.name})
      std::filesystem::copy(text(other, "/", file), text(aside, "/", file));
    record::write_run_status(aside, record::RunStatus::stopped);
    std::filesystem::rename(aside, folder);
    return true;
  }

  // The reason to end it before its time; empty: go on.
  std::string look(std::int64_t fold, const record::Evaluated& evaluated) {
    const auto value = metric_of(evaluated);
    if (!value) return {};
    store_.report(work_.number, {fold, static_cast<double>(evaluated.epoch), *value, false});
    return early_end(work_.number, store_.read(), study_.config);
  }

  std::optional<double> metric_of(const record::Evaluated& evaluated) const {
    const auto* found = analysis::find_named(evaluated.metrics, study_.config.metric());
    return found != nullptr ? std::optional(found->value) : std::nullopt;
  }

  // What is told of a training while it runs; last: its last report, behind: why it was to end.
  void watch(std::int64_t fold, record::TrialReport& last, std::string& behind,
             run::TrainOptions& options) {
    for (const record::TrialReport& known : own().reports)  // a run may end where it went on
      if (known.fold == fold) last = known;
    last.last = true;
    options.observers.push_back([this, &last](const record::Event& event) {
      const auto* evaluated = std::get_if<record::Evaluated>(&event);
      if (evaluated == nullptr) return;
      last.value = metric_of(*evaluated).value_or(std::nan(""));
      last.epochs = static_cast<double>(evaluated->epoch);
    });
    options.should_stop = [this, fold, &behind](const record::Evaluated& one) {
      behind = look(fold, one);
      return behind.empty() ? "" : text("ended early: ", behind);
    };
  }

  // In place of a training. false: it was stopped, or another process is at it still.
  bool call(Objective& objective, std::uint64_t seed, std::int64_t fold) {
    const std::string folder =
        text(runs_of(study_), "/", run_name_of(work_.number, fold, study_.config));
    std::filesystem::create_directories(folder);
    const auto held = record::RunDirectory::lock(folder);
    if (!held) return false;
    std::mutex mutex;
    record::TrialReport last{.fold = fold};
    const std::int64_t began_ns = comm::now_ns();
    const auto value = objective({.seed = seed,
                                  .folder = folder,
                                  .report =
                                      [&](double now, double epoch) {
                                        const std::lock_guard lock(mutex);
                                        last.epochs = epoch;
                                        store_.report(work_.number, {fold, epoch, now, false});
                                        behind_ =
                                            early_end(work_.number, store_.read(), study_.config);
                                        return behind_.empty();
                                      },
                                  .stop =
                                      [&] {
                                        const std::lock_guard lock(mutex);
                                        return requests_.stop();
                                      }});
    time_s_ = static_cast<double>(comm::now_ns() - began_ns) * 1e-9;
    if (!behind_.empty()) return true;
    if (!value) return false;
    last.value = *value;
    last.last = true;
    last.time_s = std::exchange(time_s_, 0);
    store_.report(work_.number, last);
    if (fold < study_.config.trainings())
      behind_ = early_end(work_.number, store_.read(), study_.config);
    return true;
  }

  bool train(std::int64_t fold) {
    const run::Job job = job_of(fold);
    if (auto* const objective = job.as<Objective>()) return call(*objective, job.seed(), fold);
    bool is_ready = true;
    std::int64_t until = 0;
    if (ranks_.is_first()) {
      if (!wait_until_seen([&] { return store_.read().contains(work_.number); })) is_ready = false;
      is_ready = is_ready && make_folder_ready(run_name_of(work_.number, fold, study_.config));
      until = end_of_leg(work_.number, store_.trials(), study_.config, job.settings.loop.epochs);
    }
    until = std::stoll(ranks_.broadcast(text(is_ready ? until : -1)));
    if (until < 0) return false;
    run::TrainOptions options{
        .start = work_.from > 0 ? record::Start::with_changes : record::Start::resume,
        .requests = requests_,
        .until = until,
        .sharing = study_.sharing};
    record::TrialReport last{.fold = fold, .value = std::nan("")};
    std::string behind;  // why it was to end, as it was told last
    if (ranks_.is_first()) watch(fold, last, behind, options);
    const run::Results trained = run::train(job, ranks_, options, log_);
    if (trained.failure) std::rethrow_exception(trained.failure);
    if (!trained.complete) return false;
    if (ranks_.is_first()) {
      if (trained.reason.kind ==
          record::StopReason::Kind::caller) {  // its end follows and says it all
        behind_ = behind;
        time_s_ = trained.results.time_s;
      } else {
        last.time_s = trained.results.time_s;
        store_.report(work_.number, last);
        if (fold < study_.config.trainings())
          behind_ = early_end(work_.number, store_.read(), study_.config);
      }
    }
    behind_ = ranks_.broadcast(behind_);
    return true;
  }

  const TuneStudy& study_;
  record::TrialStore& store_;
  Work work_;
  comm::Ranks& ranks_;
  run::Requests requests_;
  core::Log& log_;
  std::int64_t beaten_ns_ = 0;
  bool lost_ = false;
  std::string behind_;
  double time_s_ = 0;  ///< of a fold that ended early
};

}  // namespace

std::string records_of(const std::string& study_folder) {
  return text(study_folder, "/", files::trials.name, "/records");
}

std::string runs_of(const TuneStudy& study) {
  return text(study.folder, "/", files::trials.name, "/", study.workload);
}

std::string training_config_of(const std::string& study_folder) {
  return text(study_folder, "/", files::trials.name, "/", files::config.name);
}

std::string log_of(const std::string& study_folder, std::int64_t trial) {
  return log_of(study_folder, run_name_of(trial, 1, {}));
}

std::string log_of(const std::string& study_folder, const std::string& run_name) {
  return text(study_folder, "/", files::trials.name, "/logs/", run_name, ".txt");
}

std::string run_name_of(std::int64_t trial, std::int64_t training, const TuneConfig& config) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%05lld", static_cast<long long>(trial));
  if (config.trainings() == 1) return digits;
  return text(digits, config.folds > 1 ? "_fold_" : "_seed_", training);
}

bool run_trial(const TuneStudy& study, record::TrialStore& store, std::int64_t trial,
               std::int64_t attempt, comm::Ranks& ranks, const run::Requests& requests,
               core::Log& log) {
  Work work{.number = trial, .attempt = attempt};
  if (ranks.is_first()) {
    const record::TrialClaim& claim = store.read().at(trial).claim;
    work.from = claim.from;
    work.settings = claim.settings;
  }
  TrialRun run(study, store, share_out(std::move(work), ranks), ranks, requests, log);
  std::optional<record::TrialEnd> end;
  try {
    end = run.run();
  } catch (const comm::CommError&) {
    throw;
  } catch (const std::exception& problem) {
    if (ranks.size() > 1) throw;
    const std::string reason = problem.what();
    end = record::TrialEnd{.state = State::failed, .reason = reason.substr(0, reason.find('\n'))};
  }
  if (!end || !ranks.is_first()) return end.has_value();
  if (!store.owns(trial, attempt)) return false;
  store.end(trial, *end);
  return true;
}

}  // namespace sagips::study
