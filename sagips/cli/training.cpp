#include "sagips/cli/training.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>

#include "sagips/cli/display.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/lasting_metrics.hpp"
#include "sagips/cli/live_files.hpp"
#include "sagips/cli/rank_evaluation.hpp"
#include "sagips/cli/training_watch.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/train/checkpointer.hpp"

namespace sagips::cli {

namespace {

std::string metrics_file(const std::string& folder, int rank) {
  if (rank == 0) return core::text(folder, "/", record::run_files::metrics.name);
  return core::text(folder, "/", record::run_files::ranks.name, "/", file_of_rank(rank, "jsonl"));
}

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

record::CheckpointStore store_of(const Job& job, const Beginning& beginning) {
  return {core::text(beginning.folder, "/", record::run_files::checkpoints.name), beginning.run_id,
          job.settings.checkpoints.keep};
}

/// One rank's training: who looks on, what a resumed run needs of each, and the loop.
class Crank {
 public:
  Crank(const Job& job, comm::Ranks& ranks, optim::Gan& gan, train::RankExchange& exchange,
        const train::Evaluator& evaluator, const Beginning& beginning, core::Log& log)
      : job_(job),
        ranks_(ranks),
        gan_(gan),
        exchange_(exchange),
        evaluator_(evaluator),
        log_(log),
        all_wait_(everybody(ranks, exchange.waits())),
        evaluation_(ranks, all_wait_, gan, evaluator,
                    env::ParameterSet(job.workload->parameters())),
        early_stop_(job.settings.early_stop),
        live_files_(job, ranks, gan, evaluation_, beginning.folder, log),
        metrics_(metrics_file(beginning.folder, ranks.rank()),
                 [this](const std::string& line) { warn(line); }),
        checkpoints_(ranks, store_of(job, beginning),
                     {.info = [&log](const std::string& line) { log.info(line); },
                      .warning = [this](const std::string& line) { warn(line); }}) {
    training_.accord = std::make_unique<train::Accord>(ranks, exchange.waits());
    checkpointer_.emplace(ranks, job.settings.checkpoints, exchange.waits(), *training_.accord,
                          checkpoints_,
                          train::Checkpointer::Signals{[this] { return interrupted(); },
                                                       [] { return CheckpointSignal::take(); }},
                          [this](nn::StateList& list) { state(list); });
  }

  ~Crank() {
    set_alarm([] { return InterruptGuard::requested(); });
  }
  Crank(const Crank&) = delete;
  Crank& operator=(const Crank&) = delete;

  Training run(Beginning beginning);

 private:
  void set_alarm(std::function<bool()> alarmed) {
    ranks_.patience().set_config(
        {.timeout_s = job_.settings.ranks.timeout_s, .alarmed = std::move(alarmed)});
  }
  train::Loop::Callbacks callbacks();
  void state(nn::StateList& list);
  void take(train::Restored restored);
  void watch(const record::Event& event);
  void warn(const std::string& line) {
    for (const auto& observer : observers_)
      observer(record::Warning{loop_ ? loop_->epoch() : 0, line});
  }
  bool interrupted();
  void tell_of_checkpoints();
  void report_last(const train::LoopResult& result);

  const Job& job_;
  comm::Ranks& ranks_;
  optim::Gan& gan_;
  train::RankExchange& exchange_;
  const train::Evaluator& evaluator_;
  core::Log& log_;
  Training training_;
  bool all_wait_;
  RankEvaluation evaluation_;
  train::EarlyStop early_stop_;
  LiveFiles live_files_;
  LastingMetrics metrics_;
  std::optional<Display> display_;
  std::vector<record::Observer> observers_;
  train::Checkpoints checkpoints_;
  std::optional<train::Checkpointer> checkpointer_;
  std::optional<train::Loop> loop_;
  std::int64_t epoch_ = 0;  ///< of the last one that is over
};

// Everything that makes a resumed run the run that it was.
void Crank::state(nn::StateList& list) {
  list.part("loop", *loop_);
  if (ranks_.size() > 1) list.part("ranks", exchange_);
  list.part("early_stop", early_stop_);
  list.part("metrics", metrics_);
  watch_state(list, training_.record, training_.row);
  list.field("epoch", epoch_);
}

void Crank::take(train::Restored restored) {
  if (restored.ranks != ranks_.size()) {
    train::forget(restored.state, "ranks.");  // exchanges begin anew
    auto now = nn::State();
    auto own = nn::StateList::giving(now);
    if (ranks_.size() > 1) own.part("ranks", exchange_);
    restored.state.insert(now.begin(), now.end());
  }
  const std::string measured = exchange_.description();
  auto list = nn::StateList::taking(restored.state);
  state(list);
  nn::refuse_unclaimed(list);
  if (ranks_.is_first() && exchange_.description() != measured)
    log_.info(core::text("the exchange stays what it was: ", exchange_.description()));
}

// The launcher may be ending the job because a rank died.
bool Crank::interrupted() {
  if (!InterruptGuard::requested()) return false;
  if (ranks_.size() > 1) ranks_.patience().check_deaths();
  return true;
}

void Crank::watch(const record::Event& event) {
  if (const auto* done = std::get_if<record::EpochDone>(&event)) epoch_ = done->epoch;
  if (std::holds_alternative<record::Evaluated>(event) && ranks_.size() > 1)
    for (const record::Exchanged& report : exchange_.reports(epoch_)) {
      metrics_(report);
      live_files_(report);
    }
  if (!display_) return;
  if (const auto* done = std::get_if<record::EpochDone>(&event)) {
    record::EpochDone all = *done;  // what all ranks together analyse, at this rank's pace
    all.events_per_second *= ranks_.size();
    (*display_)(all);
  } else {
    (*display_)(event);
  }
}

train::Loop::Callbacks Crank::callbacks() {
  observers_ = {keeper(training_.record), warner(log_),
                counter(training_.row),   std::ref(metrics_),
                std::ref(live_files_),    [this](const record::Event& event) { watch(event); }};
  train::Loop::Callbacks callbacks;
  callbacks.observers = observers_;
  callbacks.evaluate = [this] { return evaluation_(epoch_); };
  if (ranks_.is_first())
    callbacks.should_stop = [this](const record::Evaluated& evaluated) {
      return early_stop_(evaluated);
    };
  if (ranks_.size() > 1) callbacks.exchange = exchange_.hooks();
  callbacks.tracer = live_files_.tracer();
  checkpointer_->hang_into(callbacks);
  return callbacks;
}

void Crank::tell_of_checkpoints() {
  if (!ranks_.is_first() || checkpoints_.written() == 0) return;
  if (const double ago = InterruptGuard::seconds_ago(); ago > 0)
    log_.info(core::text("told to stop ", core::fixed(ago, 2), " s ago"));
  const double share = checkpoints_.spent_s() / std::max(1e-9, training_.row.time_s);
  log_.info(core::text(checkpoints_.written(), " checkpoints took ",
                       core::significant(checkpoints_.spent_s(), 3), " s (",
                       core::significant(100 * share, 2), " % of the training time)"));
}

// Now that the slowest has come to its end.
void Crank::report_last(const train::LoopResult& result) {
  record::Evaluated last = evaluation_.last(result.epochs);
  last.epoch = result.epochs;
  last.time_s = result.time_s;
  training_.record.last = last;
  metrics_(last);
}

Training Crank::run(Beginning beginning) {
  train::LoopConfig config = job_.settings.loop;
  config.engine.threads = at::get_num_threads();  // as `threads` was settled: they take tiles
  if (ranks_.is_first())
    display_.emplace(STDOUT_FILENO,
                     DisplayConfig{.may_redraw = ranks_.size() == 1 || launcher_has_terminal()});
  loop_.emplace(config, gan_, callbacks());
  if (beginning.restored) take(std::move(*beginning.restored));
  checkpointer_->watch(*loop_);
  live_files_.begin(loop_->epoch());
  log_.set_terminal(false);  // the display shows what happens; the file goes on
  set_alarm([this] {
    checkpointer_->poll();
    return InterruptGuard::requested();
  });
  if (display_)
    (*display_)(record::RunStarted{job_.settings.workload, beginning.folder,
                                   job_.settings.loop.epochs, job_.settings.loop.minutes});
  train::LoopResult result;
  try {
    result = loop_->run();
  } catch (const core::Error&) {
    if (ranks_.size() > 1) throw;
    training_.failure = std::current_exception();
    result.epochs = epoch_;
    training_.record.last = evaluator_.parameters(gan_.predict(evaluator_.samples()));
    training_.record.last.epoch = epoch_;
  }
  training_.left = checkpointer_->gave_up() && ranks_.size() > 1;
  if (!all_wait_ && ranks_.size() > 1 && !training_.left) report_last(result);
  set_alarm([] { return InterruptGuard::requested(); });
  log_.set_terminal(true);
  live_files_.end();
  tell_of_checkpoints();
  training_.row.rank = ranks_.rank();
  const auto reports = exchange_.reports(result.epochs);
  for (const record::Exchanged& report : reports)
    if (report.subject == "generator") training_.row.exchange = report;
  return std::move(training_);
}

}  // namespace

Training turn_the_crank(const Job& job, comm::Ranks& ranks, optim::Gan& gan,
                        train::RankExchange& exchange, const train::Evaluator& evaluator,
                        Beginning beginning, core::Log& log) {
  Crank crank(job, ranks, gan, exchange, evaluator, beginning, log);
  return crank.run(std::move(beginning));
}

}  // namespace sagips::cli
