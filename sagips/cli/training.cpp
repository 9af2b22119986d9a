#include "sagips/cli/training.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>

#include "sagips/cli/display.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/snapshot_writer.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/metrics.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/tensorboard.hpp"
#include "sagips/record/timeline.hpp"
#include "sagips/train/rank_reports.hpp"

namespace sagips::cli {

namespace {

// Keeps what the final table needs.
record::Observer keeper(TrainingRecord& kept) {
  return [&kept, seen = false](const record::Event& event) mutable {
    if (const auto* evaluated = std::get_if<record::Evaluated>(&event)) {
      if (!seen) kept.first = *evaluated;
      kept.last = *evaluated;
      seen = true;
    }
    if (const auto* finished = std::get_if<record::RunFinished>(&event)) kept.finished = *finished;
  };
}

record::Observer warner(core::Log& log) {
  return [&log](const record::Event& event) {
    if (const auto* warning = std::get_if<record::Warning>(&event))
      log.warning(core::text("epoch ", warning->epoch, ": ", warning->message));
  };
}

// Synthetic events analysed in this rank's training time.
record::Observer counter(RankRow& row) {
  return [&row, events = 0.0, time_s = 0.0](const record::Event& event) mutable {
    if (const auto* epoch = std::get_if<record::EpochDone>(&event)) {
      events += epoch->events_per_second * (epoch->time_s - time_s);
      time_s = epoch->time_s;
      row.epochs = epoch->epoch;
      row.time_s = time_s;
      row.events_per_second = time_s > 0 ? events / time_s : 0;
    }
  };
}

std::string of_rank(int rank, const char* extension) {
  char name[32];
  std::snprintf(name, sizeof(name), "rank_%04d.%s", rank, extension);
  return name;
}

std::string metrics_file(const std::string& folder, int rank) {
  if (rank == 0) return core::text(folder, "/", record::run_files::metrics.name);
  return core::text(folder, "/", record::run_files::ranks.name, "/", of_rank(rank, "jsonl"));
}

/// The picture of all ranks that rank 0 shows; other ranks see themselves.
class RankEvaluation {
 public:
  RankEvaluation(comm::Ranks& ranks, bool all_wait, optim::Gan& gan,
                 const train::Evaluator& evaluator, const env::ParameterSet& parameters)
      : ranks_(ranks), reports_(ranks, all_wait), gan_(gan), evaluator_(evaluator) {
    for (const env::Parameter& parameter : parameters.all()) names_.push_back(parameter.name);
  }

  record::Evaluated operator()(std::int64_t epoch) {
    return seen(reports_.meet(predictions(), weights(), epoch));
  }
  record::Evaluated last(std::int64_t epoch) {
    return seen(reports_.close(predictions(), weights(), epoch));
  }
  /// What was seen last: the mean over ranks on rank 0.
  record::Snapshot snapshot() const {
    record::Snapshot snapshot;
    snapshot.parameters = names_;
    snapshot.predictions = floats(seen_);
    snapshot.weights = floats(gan_.predicting_weights());
    return snapshot;
  }

 private:
  torch::Tensor predictions() { return gan_.predict(evaluator_.samples()).contiguous(); }
  torch::Tensor weights() {
    nn::Replica& replica = gan_.generator();
    return replica.weights().detach().narrow(0, 0, replica.shared_size()).clone();
  }
  static std::vector<float> floats(const torch::Tensor& numbers) {
    const torch::Tensor flat = numbers.detach().to(torch::kCPU, torch::kFloat32).contiguous();
    return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
  }
  record::Evaluated seen(const train::RankView& view) {
    seen_ = view.predictions;
    if (!ranks_.is_first()) return evaluator_.parameters(view.predictions);
    record::Evaluated evaluated = evaluator_.evaluate(view.predictions);
    if (ranks_.size() > 1) evaluated.ranks = view.numbers(names_);
    return evaluated;
  }

  comm::Ranks& ranks_;
  train::RankReports reports_;
  optim::Gan& gan_;
  const train::Evaluator& evaluator_;
  std::vector<std::string> names_;
  torch::Tensor seen_;
};

/// Writes the trace of the first epochs.
class Trace {
 public:
  Trace(std::int64_t epochs, const std::string& file, int rank, optim::Gan& gan)
      : epochs_(epochs), file_(file), gan_(gan) {
    if (epochs == 0) return;
    timeline_.emplace(rank);
    gan_.set_tracer(tracer());
  }
  core::Tracer* tracer() { return timeline_ ? &*timeline_ : nullptr; }
  void operator()(const record::Event& event) {
    const auto* done = std::get_if<record::EpochDone>(&event);
    if (!done || ++over_ != epochs_) return;
    timeline_->stop();
    gan_.set_tracer(nullptr);
  }
  /// throws: StorageError
  void write() {
    gan_.set_tracer(nullptr);
    if (timeline_) timeline_->write(file_);
  }

 private:
  std::int64_t epochs_, over_ = 0;
  std::string file_;
  optim::Gan& gan_;
  std::optional<record::Timeline> timeline_;
};

// mpirun gives its processes a terminal of its own even when it writes to a file itself.
bool launcher_has_terminal() {
  std::error_code error;
  const auto target =
      std::filesystem::read_symlink(core::text("/proc/", getppid(), "/fd/1"), error).string();
  return !error && (target.rfind("/dev/pts/", 0) == 0 || target.rfind("/dev/tty", 0) == 0);
}

bool everybody(comm::Ranks& ranks, bool here) {
  const auto all = ranks.gather(here ? 1 : 0);
  return std::all_of(all.begin(), all.end(), [](std::uint64_t there) { return there != 0; });
}

// What rank 0 alone keeps of a run while it lasts: snapshots, and event files for TensorBoard.
record::Observer first_rank_files(const Job& job, const comm::Ranks& ranks,
                                  const RankEvaluation& evaluation, const std::string& folder,
                                  core::Log& log) {
  if (!ranks.is_first()) return {};
  train::LoopConfig loop = job.settings.loop;
  std::vector<record::Observer> all;
  if (loop.snapshots > 0)
    all.push_back(SnapshotWriter(
        core::text(folder, "/", record::run_files::snapshots.name),
        [loop](std::int64_t epoch) { return loop.snapshot_part(epoch); },
        [&evaluation] { return evaluation.snapshot(); }, log));
  if (job.settings.run.tensorboard)
    all.push_back([writer = std::make_shared<record::TensorBoardWriter>(
                       core::text(folder, "/", record::run_files::tensorboard.name), 0)](
                      const record::Event& event) { (*writer)(event); });
  return [all](const record::Event& event) mutable {
    for (const record::Observer& one : all) one(event);
  };
}

}  // namespace

Training turn_the_crank(const Job& job, comm::Ranks& ranks, optim::Gan& gan,
                        train::RankExchange& exchange, const train::Evaluator& evaluator,
                        const std::string& folder, core::Log& log) {
  Training training;
  training.accord = std::make_unique<train::Accord>(ranks, exchange.waits());
  const bool all_wait = everybody(ranks, exchange.waits());
  RankEvaluation evaluation(ranks, all_wait, gan, evaluator,
                            env::ParameterSet(job.workload->parameters()));
  train::EarlyStop early_stop(job.settings.early_stop);
  record::MetricsWriter metrics(metrics_file(folder, ranks.rank()));
  std::optional<Display> display;
  if (ranks.is_first())
    display.emplace(STDOUT_FILENO,
                    DisplayConfig{.may_redraw = ranks.size() == 1 || launcher_has_terminal()});
  const record::Observer live = first_rank_files(job, ranks, evaluation, folder, log);
  Trace trace(
      job.settings.loop.timeline,
      core::text(folder, "/", record::run_files::timeline.name, "/", of_rank(ranks.rank(), "json")),
      ranks.rank(), gan);
  log.set_terminal(false);  // the display shows what happens; the file goes on

  std::int64_t epoch = 0;
  train::Loop::Callbacks callbacks;
  callbacks.observers = {keeper(training.record), warner(log), counter(training.row),
                         std::ref(metrics), std::ref(trace)};
  if (live) callbacks.observers.emplace_back(std::cref(live));
  callbacks.tracer = trace.tracer();
  callbacks.observers.push_back([&](const record::Event& event) {
    if (const auto* done = std::get_if<record::EpochDone>(&event)) epoch = done->epoch;
    if (std::holds_alternative<record::Evaluated>(event) && ranks.size() > 1)
      for (const record::Exchanged& report : exchange.reports(epoch)) {
        metrics(report);
        if (live) live(report);
      }
    if (!display) return;
    if (const auto* done = std::get_if<record::EpochDone>(&event)) {
      record::EpochDone all = *done;  // what all ranks together analyse, at this rank's pace
      all.events_per_second *= ranks.size();
      (*display)(all);
    } else {
      (*display)(event);
    }
  });
  callbacks.evaluate = [&] { return evaluation(epoch); };
  if (ranks.is_first())
    callbacks.should_stop = [&](const record::Evaluated& evaluated) {
      return early_stop(evaluated);
    };
  callbacks.interrupted = [&] {
    if (!InterruptGuard::requested()) return false;
    ranks.patience().look_after();  // the launcher may be ending the job because a rank died
    return true;
  };
  callbacks.agree = [&](std::int64_t over, const std::string& wish) {
    return (*training.accord)(over, wish);
  };
  if (ranks.size() > 1) callbacks.exchange = exchange.hooks();
  if (display)
    (*display)(record::RunStarted{job.settings.workload, folder, job.settings.loop.epochs,
                                  job.settings.loop.minutes});
  train::LoopConfig loop = job.settings.loop;
  loop.engine.threads = at::get_num_threads();  // as `threads` was settled: they take tiles
  train::LoopResult result;
  try {
    result = train::Loop(loop, gan, callbacks).run();
  } catch (const core::Error&) {
    if (ranks.size() > 1) throw;
    training.failure = std::current_exception();
    result.epochs = epoch;
    training.record.last = evaluator.parameters(gan.predict(evaluator.samples()));
    training.record.last.epoch = epoch;
  }
  if (!all_wait && ranks.size() > 1) {  // now that the slowest has come to its end
    record::Evaluated last = evaluation.last(result.epochs);
    last.epoch = result.epochs;
    last.time_s = result.time_s;
    training.record.last = last;
    metrics(last);
  }
  log.set_terminal(true);
  trace.write();
  training.row.rank = ranks.rank();
  const auto reports = exchange.reports(result.epochs);
  for (const record::Exchanged& report : reports)
    if (report.subject == "generator") training.row.exchange = report;
  return training;
}

}  // namespace sagips::cli
