#include "sagips/run/training.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "sagips/core/text.hpp"
#include "sagips/record/event_json.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/live_files.hpp"
#include "sagips/run/task.hpp"
#include "sagips/run/train.hpp"
#include "sagips/run/training_setup.hpp"
#include "sagips/train/checkpoint/checkpointer.hpp"

namespace sagips::run {

namespace {

std::string metrics_file(const std::string& folder, int rank) {
  if (rank == 0) return core::text(folder, "/", record::run_files::metrics.name);
  return core::text(folder, "/", record::run_files::ranks.name, "/", file_of_rank(rank, "jsonl"));
}

bool everybody(comm::Ranks& ranks, bool here) {
  const auto all = ranks.gather(here ? 1 : 0);
  return std::all_of(all.begin(), all.end(), [](std::uint64_t there) { return there != 0; });
}

record::CheckpointStore store_of(const Job& job, const Beginning& beginning) {
  return {core::text(beginning.folder, "/", record::run_files::checkpoints.name), beginning.run_id,
          job.settings.checkpoints.keep};
}

void evaluation_state(nn::StateList& list, const std::string& name, record::Evaluated& evaluated) {
  std::string words = record::event_to_json(evaluated);
  list.field(name, words);
  if (!list.gives()) evaluated = std::get<record::Evaluated>(record::event_from_json(words));
}

// The prefix of a field that belongs to an update rule, of a rank or of an owner of central weights.
std::string update_rule_of(const std::string& name) {
  const std::string prefix = name.substr(0, name.rfind('.') + 1);
  return prefix.ends_with("_update.") || prefix.starts_with("ranks.rule.") ? prefix : "";
}

std::set<std::string> without_schedule(std::set<std::string> fields) {
  std::erase_if(fields, optim::UpdateRule::is_of_schedule);
  return fields;
}

// Gradients of batches that are to make an update with others.
bool is_collected(const std::string& name) { return name.find(".collected") != std::string::npos; }

// Keeps what the final table needs; `kept` may hold what a run saw before a restart.
record::Observer keeper(TrainingRecord& kept) {
  return [&kept](const record::Event& event) {
    if (const auto* evaluated = std::get_if<record::Evaluated>(&event)) {
      if (kept.first.parameters.empty() && kept.first.metrics.empty()) kept.first = *evaluated;
      kept.last = *evaluated;
    }
    if (const auto* finished = std::get_if<record::RunFinished>(&event)) kept.finished = *finished;
  };
}

record::Observer warner(core::Log& log) {
  return [&log](const record::Event& event) {
    if (const auto* warning = std::get_if<record::Warning>(&event))
      log.warning("training", core::text("epoch ", warning->epoch, ": ", warning->message));
  };
}

// Counts epochs, time and synthetic events analysed in this rank's training time.
record::Observer counter(RankRow& row) {
  return [&row](const record::Event& event) {
    if (const auto* epoch = std::get_if<record::EpochDone>(&event)) {
      const double events = row.events_per_second * row.time_s +
                            epoch->events_per_second * (epoch->time_s - row.time_s);
      row.epochs = epoch->epoch;
      row.time_s = epoch->time_s;
      row.events_per_second = row.time_s > 0 ? events / row.time_s : 0;
    }
  };
}

// What these need to go on after a restart.
void watch_state(nn::StateList& list, TrainingRecord& kept, RankRow& row) {
  evaluation_state(list, "first_evaluation", kept.first);
  evaluation_state(list, "last_evaluation", kept.last);
  list.field("row.epochs", row.epochs);
  list.field("row.time_s", row.time_s);
  list.field("row.events_per_second", row.events_per_second);
}

/// One rank's training: who looks on, what a resumed run needs of each, and the loop.
class TrainingRun {
 public:
  TrainingRun(const Job& job, comm::Ranks& ranks, Task& task, train::RankExchange& exchange,
              const Beginning& beginning, const TrainOptions& options, core::Log& log)
      : job_(job),
        ranks_(ranks),
        task_(task),
        exchange_(exchange),
        options_(options),
        requests_(options.requests),
        log_(log),
        all_wait_(everybody(ranks, exchange.waits())),
        early_stop_(job.settings.early_stop),
        live_files_(job, ranks, task, beginning.folder, log),
        metrics_(metrics_file(beginning.folder, ranks.rank()),
                 [this](const std::string& line) { warn(line); }),
        checkpoints_(ranks, store_of(job, beginning),
                     {.info = [&log](const std::string& line) { log.info(line); },
                      .warning = [this](const std::string& line) { warn(line); }}) {
    task.begin_evaluations(all_wait_, ranks.size() > 1 && !exchange.readers().empty());
    training_.agreement = std::make_unique<train::StopAgreement>(ranks, exchange.waits());
    checkpointer_.emplace(
        ranks, job.settings.checkpoints, exchange.waits(), *training_.agreement, checkpoints_,
        train::Checkpointer::Signals{[this] { return interrupted(); }, requests_.checkpoint},
        [this](nn::StateList& list) { state(list); });
  }

  ~TrainingRun() { set_alarm(requests_.stop); }
  TrainingRun(const TrainingRun&) = delete;
  TrainingRun& operator=(const TrainingRun&) = delete;

  Training run(Beginning beginning);

 private:
  void set_alarm(std::function<bool()> alarmed) {
    ranks_.timeout().set_config(
        {.timeout_s = job_.settings.ranks.timeout_s, .alarmed = std::move(alarmed)});
  }
  std::optional<record::Evaluated> evaluated(const std::vector<int>& readers);
  train::Loop::Callbacks callbacks();
  void state(nn::StateList& list);
  void take(train::Restored restored);
  void fit_update_rules(nn::State& state);
  void report_costs();
  void watch(const record::Event& event);
  void judge(const record::Evaluated& evaluated) {
    if (ranks_.is_first() && task_.keeps_best())
      task_.judge(evaluated, [this](const auto& one) { return early_stop_.score(one); });
  }
  void warn(const std::string& line) {
    for (const auto& observer : observers_)
      observer(record::Warning{loop_ ? loop_->epoch() : 0, line});
  }
  bool interrupted();
  void tell_of_checkpoints();
  void tell_of_threads();
  void report_last(const train::LoopResult& result);
  std::string agreed(const std::string& breakdown);
  void note_breakdown(const train::LoopResult& result);
  void note_costs();

  const Job& job_;
  comm::Ranks& ranks_;
  Task& task_;
  train::RankExchange& exchange_;
  const TrainOptions& options_;
  const Requests& requests_;
  core::Log& log_;
  Training training_;
  bool all_wait_, serves_ = false;  ///< this rank computes nothing
  train::EarlyStop early_stop_;
  LiveFiles live_files_;
  LastingMetrics metrics_;
  std::vector<record::Observer> observers_;
  train::Checkpoints checkpoints_;
  std::optional<train::Checkpointer> checkpointer_;
  std::optional<train::Loop> loop_;
  std::int64_t epoch_ = 0;  ///< of the last one that is over
};

// Everything that makes a resumed run the run that it was.
void TrainingRun::state(nn::StateList& list) {
  list.part("loop", *loop_);
  if (ranks_.size() > 1) list.part("ranks", exchange_);
  list.part("early_stop", early_stop_);
  list.part("metrics", metrics_);
  if (ranks_.is_first()) list.part("task", task_);
  watch_state(list, training_.record, training_.row);
  list.field("epoch", epoch_);
}

void TrainingRun::take(train::Restored restored) {
  // checkpoints of before they were measured
  restored.state.try_emplace("loop.phases_s", torch::zeros({0}, torch::kFloat64));
  if (!ranks_.is_first())
    train::forget(restored.state, "task.");  // of a first rank, where ranks are new
  if (restored.ranks != ranks_.size()) {
    exchange_.keep_central(restored.state, "ranks.");
    train::forget(restored.state, "ranks.");  // exchanges begin anew
    auto now = nn::State();
    auto own = nn::StateList::giving(now);
    if (ranks_.size() > 1) own.part("ranks", exchange_);
    restored.state.insert(now.begin(), now.end());
  }
  fit_update_rules(restored.state);
  const std::string measured = exchange_.description();
  auto list = nn::StateList::taking(restored.state);
  state(list);
  nn::refuse_unclaimed(list);
  exchange_.take_kept();
  if (ranks_.is_first() && exchange_.description() != measured)
    log_.info(core::text("the exchange stays what it was: ", exchange_.description()));
}

// Goes on with other update rules than the state is of: those begin anew. A schedule that waits for a plateau
// begins to wait where there was none, or where another metric is watched.
void TrainingRun::fit_update_rules(nn::State& state) {
  nn::State own;
  auto list = nn::StateList::giving(own);
  this->state(list);
  const auto watched = state.find("early_stop.metric");
  const bool other_metric =
      watched != state.end() && !torch::equal(watched->second, own.at("early_stop.metric"));
  // of runs where other numbers of batches make an update, which begins with the next batch
  std::erase_if(
      state, [&](const auto& one) { return is_collected(one.first) && !own.contains(one.first); });
  for (const auto& [name, value] : own)
    if (is_collected(name)) state.try_emplace(name, value);
  std::map<std::string, std::set<std::string>> before, now;  // fields of rules, by their prefixes
  for (const auto& [name, value] : state)
    if (const std::string rule = update_rule_of(name); !rule.empty())
      before[rule].insert(name.substr(rule.size()));
  for (const auto& [name, value] : own)
    if (const std::string rule = update_rule_of(name); !rule.empty())
      now[rule].insert(name.substr(rule.size()));
  for (const auto& [rule, fields] : now) {
    if (!before.contains(rule)) continue;
    const bool begins_anew = without_schedule(fields) != without_schedule(before.at(rule));
    for (const std::string& field : before.at(rule))
      if (!fields.contains(field)) state.erase(rule + field);
    for (const std::string& field : fields)
      if (begins_anew || !before.at(rule).contains(field) ||
          (other_metric && optim::UpdateRule::is_of_schedule(field)))
        state[rule + field] = own.at(rule + field);
    if (begins_anew && ranks_.is_first())
      log_.info(core::text("updates begin anew, their rule is another one: ", rule));
  }
}

// The launcher may be ending the job because a rank died.
bool TrainingRun::interrupted() {
  if (!requests_.stop()) return false;
  if (ranks_.size() > 1) ranks_.timeout().check_deaths();
  return true;
}

// What the training has cost this rank so far.
void TrainingRun::report_costs() {
  std::vector<record::Event> costs;
  if (ranks_.size() > 1)
    for (const record::Exchanged& report : exchange_.reports(epoch_)) costs.emplace_back(report);
  if (epoch_ > 0) costs.emplace_back(record::TimeSpent{epoch_, loop_->phases().split()});
  if (Monitor* const monitor = live_files_.monitor())
    costs.emplace_back(monitor->since_last(epoch_));
  for (const record::Event& cost : costs) {
    metrics_(cost);
    live_files_(cost);
  }
}

void TrainingRun::watch(const record::Event& event) {
  if (const auto* done = std::get_if<record::EpochDone>(&event)) epoch_ = done->epoch;
  if (const auto* evaluated = std::get_if<record::Evaluated>(&event)) judge(*evaluated);
  if (std::holds_alternative<record::Evaluated>(event)) report_costs();
  record::Event shown = event;
  if (auto* done = std::get_if<record::EpochDone>(&shown))
    // what all analyse together, at this rank's pace; one that serves has none
    done->events_per_second = done->events_per_second > 0
                                  ? done->events_per_second * ranks_.size()
                                  : std::numeric_limits<double>::quiet_NaN();
  for (const record::Observer& observer : options_.observers) observer(shown);
}

// readers: ranks that look at central weights
std::optional<record::Evaluated> TrainingRun::evaluated(const std::vector<int>& readers) {
  std::optional<record::Evaluated> evaluated;
  const auto evaluate = [&] {
    exchange_.between_steps([&] { evaluated = task_.evaluate(epoch_); });
  };
  // central weights may have moved before they are looked at: where nothing is learned they are these
  const bool is_start = loop_->step() == 0;
  if (is_start || std::find(readers.begin(), readers.end(), ranks_.rank()) == readers.end())
    evaluate();
  else
    exchange_.with_central_weights(epoch_, readers.size(), evaluate);
  return evaluated;
}

train::Loop::Callbacks TrainingRun::callbacks() {
  observers_ = {keeper(training_.record), warner(log_),
                counter(training_.row),   std::ref(metrics_),
                std::ref(live_files_),    [this](const record::Event& event) { watch(event); }};
  train::Loop::Callbacks callbacks;
  callbacks.observers = observers_;
  callbacks.unit = job_.problem->unit();
  callbacks.remedy = job_.problem->remedy();
  std::vector<int> readers;
  if (ranks_.size() > 1) readers = exchange_.readers();
  if (task_.share_evaluations(readers, all_wait_))
    callbacks.late = [this](bool wait) { return task_.late(wait); };
  else if (!readers.empty())
    readers = {0};
  callbacks.evaluate = [this, readers] { return evaluated(readers); };
  callbacks.until = options_.until;
  if (ranks_.is_first())
    callbacks.should_stop = [this](const record::Evaluated& evaluated) {
      using Kind = record::StopReason::Kind;
      record::StopReason reason(Kind::early_stop, early_stop_(evaluated));
      if (reason || !options_.should_stop) return reason;
      return record::StopReason(Kind::caller, options_.should_stop(evaluated));
    };
  if (job_.problem->waits_for_plateau())
    callbacks.score = [this](const record::Evaluated& evaluated) {
      return early_stop_.score(evaluated);
    };
  if (ranks_.size() > 1) {
    callbacks.exchange = exchange_.hooks(live_files_.tracer());
    serves_ = callbacks.exchange.serve != nullptr;
    if (callbacks.late)  // the last checkpoint has what was found
      callbacks.exchange.close = [this, close = callbacks.exchange.close] {
        close();
        loop_->take_late(true);
      };
    task_.set_meanwhile([this] { exchange_.poll(); }, serves_);
  }
  callbacks.tracer = live_files_.tracer();
  checkpointer_->attach_to(callbacks);
  return callbacks;
}

void TrainingRun::tell_of_threads() {
  const std::string paid = loop_->engine().threads_that_pay();
  if (ranks_.is_first() && !paid.empty())
    log_.info(core::text("threads: ", paid, " took the steps at the end; more did not pay (small ",
                         "steps, or processors that others use)"));
}

void TrainingRun::tell_of_checkpoints() {
  if (!ranks_.is_first() || checkpoints_.written() == 0) return;
  if (const double ago = requests_.stop_age_s(); ago > 0)
    log_.info(core::text("told to stop ", core::fixed(ago, 2), " s ago"));
  const double share = checkpoints_.spent_s() / std::max(1e-9, training_.row.time_s);
  log_.info(core::text(checkpoints_.written(), " checkpoints took ",
                       core::significant(checkpoints_.spent_s(), 3), " s (",
                       core::significant(100 * share, 2), " % of the training time)"));
}

// Now that the slowest has come to its end.
void TrainingRun::report_last(const train::LoopResult& result) {
  record::Evaluated last = task_.last(result.epochs);
  last.epoch = result.epochs;
  last.time_s = result.time_s;
  training_.record.last = last;
  metrics_(last);
  judge(last);
}

// In the last step some ranks alone may have seen it: the first that computes has the word.
std::string TrainingRun::agreed(const std::string& breakdown) {
  if (ranks_.size() == 1) return breakdown;
  struct Word {
    bool computes;
    std::array<char, 1023> text;
  } own{!serves_, {}};
  std::copy_n(breakdown.data(), std::min(breakdown.size(), own.text.size() - 1), own.text.data());
  std::vector<Word> all(static_cast<std::size_t>(ranks_.size()));
  ranks_.communicator().all_gather(std::as_bytes(std::span(&own, 1)),
                                   std::as_writable_bytes(std::span(all)));
  return std::find_if(all.begin(), all.end(), [](const Word& one) { return one.computes; })
      ->text.data();
}

void TrainingRun::note_breakdown(const train::LoopResult& result) {
  using Reason = record::StopReason;
  const bool is_own = result.reason.kind == Reason::Kind::failed;
  const std::string why = agreed(is_own ? task_.optimizer().reason_to_stop() : "");
  record::RunFinished& finished = training_.record.finished;
  if (!why.empty()) {
    training_.failure = std::make_exception_ptr(core::Error(why));
    finished.reason = {Reason::Kind::failed, "failed: " + why};
    finished.complete = false;
  } else if (is_own) {
    finished.reason = Reason(Reason::Kind::all_epochs);
    finished.complete = true;
  }
}

void TrainingRun::note_costs() {
  training_.row.computes = !serves_;
  training_.row.split = loop_->phases().split();
  training_.row.steps = loop_->phases().steps();
  training_.row.peak_memory_mb = peak_resident_mb();
  training_.row.used = live_files_.used();
}

Training TrainingRun::run(Beginning beginning) {
  loop_.emplace(loop_of(job_), task_.optimizer(), callbacks());
  if (beginning.restored) take(std::move(*beginning.restored));
  if (beginning.after_end) loop_->go_on_after_end();
  if (ranks_.size() > 1) exchange_.begin();
  checkpointer_->watch(*loop_);
  live_files_.begin(loop_->epoch());
  const bool had_terminal = log_.set_terminal(false);
  set_alarm([this] {
    checkpointer_->poll();
    if (ranks_.size() > 1) exchange_.poll();
    return requests_.stop();
  });
  for (const record::Observer& observer : options_.observers)
    observer(record::RunStarted{job_.settings.workload, beginning.folder, job_.settings.loop.epochs,
                                job_.settings.loop.minutes});
  train::LoopResult result;
  try {
    result = loop_->run();
  } catch (const core::Error&) {
    if (ranks_.size() > 1) throw;
    training_.failure = std::current_exception();
    result.epochs = epoch_;
    training_.record.last = task_.after_failure();
    training_.record.last.epoch = epoch_;
  }
  training_.left = checkpointer_->gave_up() && ranks_.size() > 1;
  if (ranks_.size() > 1 && !training_.left) exchange_.settle();
  if (!all_wait_ && ranks_.size() > 1 && !training_.left) report_last(result);
  if (!training_.left && !training_.failure) note_breakdown(result);
  set_alarm(requests_.stop);
  log_.set_terminal(had_terminal);
  live_files_.end();
  tell_of_checkpoints();
  tell_of_threads();
  training_.row.rank = ranks_.rank();
  training_.row.totals = exchange_.totals();
  note_costs();
  return std::move(training_);
}

}  // namespace

Training run_training(const Job& job, comm::Ranks& ranks, Task& task, train::RankExchange& exchange,
                      Beginning beginning, const TrainOptions& options, core::Log& log) {
  TrainingRun run(job, ranks, task, exchange, beginning, options, log);
  return run.run(std::move(beginning));
}

}  // namespace sagips::run
