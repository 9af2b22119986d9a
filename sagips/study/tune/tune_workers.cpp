#include "sagips/study/tune/tune_workers.hpp"

#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "sagips/core/error.hpp"
#include "sagips/core/process/process_pool.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/study/group_members.hpp"
#include "sagips/study/members.hpp"

namespace sagips::study {

namespace {

using core::text;
using State = record::TrialEnd::State;
constexpr std::int64_t most_signals = 2;  // that end a trial

core::ChildProgram program_of(const TuneStudy& study, const record::TrialClaim& claim,
                              const std::vector<std::string>& words, int threads) {
  core::ChildProgram program =
      child_of_study(words, static_cast<int>(study.config.ranks), study.config.launcher, threads);
  for (std::string word : {std::string("tune"), study.folder, std::string("--trial"),
                           text(claim.number), std::string("--attempt"), text(claim.attempt)})
    program.arguments.push_back(std::move(word));
  program.log = log_of(study.folder, claim.number);
  program.advice = "Look at tune.launcher.";
  return program;
}

// What a child has left to be said of its trial.
void note_end(record::TrialStore& store, const record::TrialClaim& claim,
              const core::Ending& ending, bool stopping, const std::string& log) {
  const auto& trial = store.read().at(claim.number);
  if (trial.end || trial.claim.attempt != claim.attempt) return;  // this process was suspended
  const auto failed = [&](const std::string& reason) {
    store.end(claim.number, {.state = State::failed, .reason = reason});
  };
  const bool stopped =
      static_cast<core::ExitCode>(ending.exit_code) == core::ExitCode::stopped_early;
  if (ending.signal != 0 && trial.signals + 1 >= most_signals && !stopping)
    return failed(text("ended by signal ", ending.signal, " (", strsignal(ending.signal),
                       "), as the time before"));
  // a launcher that is told to stop says that it has failed
  if (ending.signal != 0 || stopped || stopping)
    return store.give_back(claim.number, claim.attempt, stopping ? 0 : ending.signal);
  const std::string reason = last_error(log);
  failed(reason.empty() ? text("exit code ", ending.exit_code, "; see ", log) : reason);
}

}  // namespace

bool run_trials_in_children(const TuneStudy& study, TrialQueue& queue,
                            const std::vector<std::string>& program, std::size_t at_once,
                            int threads, const run::Requests& requests, const TuneWatch& show) {
  std::filesystem::create_directories(std::filesystem::path(log_of(study.folder, 1)).parent_path());
  std::map<std::size_t, record::TrialClaim> claims;
  const auto stopping = [&] { return requests.stop() || queue.has_enough(); };
  core::PoolWatch watch;
  watch.next = [&]() -> std::optional<core::NumberedProgram> {
    const auto claim = queue.take();
    if (!claim) return {};
    const auto number = static_cast<std::size_t>(claim->number);
    claims[number] = *claim;
    return core::NumberedProgram{number, program_of(study, *claim, program, threads)};
  };
  watch.is_over = [&] { return !queue.over().empty() && queue.all_ended(); };
  watch.ended = [&](std::size_t number, const core::Ending& ending) {
    note_end(queue.store(), claims[number], ending, stopping(),
             log_of(study.folder, claims[number].number));
    queue.leave(claims[number].number);
  };
  watch.refused = [&](std::size_t number, const std::string&) {
    queue.store().give_back(claims[number].number, claims[number].attempt);
    throw;  // of this machine, and no fault of the trial
  };
  watch.waiting = [&] {
    queue.beat();
    queue.store().read();
    if (show) show(queue.store().trials());
  };
  watch.interrupted = stopping;
  watch.usr1_requested = requests.checkpoint;
  return core::run_side_by_side(at_once, watch) || !requests.stop();
}

bool run_trials_in_blocks(const TuneStudy& study, const std::function<TrialQueue()>& make_queue,
                          comm::Ranks& ranks, const run::Requests& requests,
                          const TuneWatch& show) {
  std::optional<TrialQueue> queue;  // on the first rank of a block
  std::int64_t attempt = 0;
  run::Requests asked = requests;
  asked.stop = [&] {
    if (queue) queue->beat();
    return requests.stop();
  };
  BlockWork work;
  work.next = [&]() -> std::int64_t {
    if (!queue) queue.emplace(make_queue());
    queue->store().read();
    if (show) show(queue->store().trials());
    if (asked.stop()) return BlockWork::interrupted;
    if (const auto claim = queue->take()) {
      attempt = claim->attempt;
      return claim->number;
    }
    return queue->has_enough() || (!queue->over().empty() && queue->all_ended())
               ? BlockWork::all_over
               : BlockWork::none_now;
  };
  work.log_of = [&](std::int64_t trial) { return log_of(study.folder, trial); };
  work.work = [&](std::int64_t trial, comm::Ranks& own, core::Log& log) {
    record::TrialStore unread(records_of(study.folder), study.config.lease_s);
    return run_trial(study, queue ? queue->store() : unread, trial, attempt, own, asked, log);
  };
  work.ended = [&](std::int64_t trial, const GroupEnd& end) {
    record::TrialStore& store = queue->store();
    if (end.state == GroupEnd::State::failed && !store.read().at(trial).end &&
        store.owns(trial, attempt))
      store.end(trial, {.state = State::failed, .reason = end.reason});
    if (end.state == GroupEnd::State::interrupted) store.give_back(trial, attempt);
    queue->leave(trial);
  };
  return work_in_blocks(ranks, study.config.ranks, work);
}

}  // namespace sagips::study
