#include "sagips/study/tune/tune_workers.hpp"

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>

#include "sagips/core/error.hpp"
#include "sagips/core/process/child_process.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/study/group_members.hpp"
#include "sagips/study/members.hpp"
#include "sagips/study/over_ranks.hpp"

namespace sagips::study {

namespace {

using core::text;
using State = record::TrialEnd::State;
constexpr auto nap = std::chrono::milliseconds(20);
constexpr std::int64_t most_signals = 2;  // that end a trial

// What the first rank of a block says to the others, if it is not the number of a trial.
constexpr std::int64_t none_now = 0, study_over = -1, interrupted = -2;

/// The trials that run here as children.
class Children {
 public:
  Children(const TuneStudy& study, TrialQueue& queue, const std::vector<std::string>& program,
           int threads)
      : study_(study), queue_(queue), program_(program), threads_(threads) {}

  std::size_t running() const { return running_.size(); }

  void start(const record::TrialClaim& claim) {
    core::ChildProgram program = child_of_study(program_, static_cast<int>(study_.config.ranks),
                                                study_.config.launcher, threads_);
    for (std::string word : {std::string("tune"), study_.folder, std::string("--trial"),
                             text(claim.number), std::string("--attempt"), text(claim.attempt)})
      program.arguments.push_back(std::move(word));
    program.log = log_of(study_.folder, claim.number);
    program.advice = "Look at tune.launcher.";
    try {
      running_.try_emplace(claim.number, claim, program);
    } catch (const core::Error&) {  // of this machine, and no fault of the trial
      queue_.store().give_back(claim.number, claim.attempt);
      throw;
    }
  }

  void collect(bool stopping) {
    for (auto one = running_.begin(); one != running_.end();) {
      const auto ending = one->second.process.ended();
      if (!ending) {
        ++one;
        continue;
      }
      const record::TrialClaim claim = one->second.claim;
      one = running_.erase(one);
      note(claim, *ending, stopping);
    }
  }

  void tell(int signal) {
    for (const auto& [number, one] : running_) one.process.signal(signal);
  }

 private:
  struct Running {
    Running(record::TrialClaim given, const core::ChildProgram& program)
        : claim(std::move(given)), process(program) {}
    record::TrialClaim claim;
    core::ChildProcess process;
  };

  void end(std::int64_t number, State state, const std::string& reason) {
    queue_.store().end(number, {.state = state, .reason = reason});
    queue_.leave(number);
  }

  void note(const record::TrialClaim& claim, const core::Ending& ending, bool stopping) {
    const auto& trial = queue_.store().read().at(claim.number);
    const bool is_lost = trial.claim.attempt != claim.attempt;  // this process was suspended
    if (trial.end || is_lost) return queue_.leave(claim.number);
    const bool stopped =
        static_cast<core::ExitCode>(ending.exit_code) == core::ExitCode::stopped_early;
    if (ending.signal != 0 && trial.signals + 1 >= most_signals && !stopping)
      return end(claim.number, State::failed,
                 text("ended by signal ", ending.signal, " (", strsignal(ending.signal),
                      "), as the time before"));
    // a launcher that is told to stop says that it has failed
    if (ending.signal != 0 || stopped || stopping) {
      queue_.store().give_back(claim.number, claim.attempt, stopping ? 0 : ending.signal);
      return queue_.leave(claim.number);
    }
    const std::string log = log_of(study_.folder, claim.number);
    const std::string reason = last_error(log);
    end(claim.number, State::failed,
        reason.empty() ? text("exit code ", ending.exit_code, "; see ", log) : reason);
  }

  const TuneStudy& study_;
  TrialQueue& queue_;
  const std::vector<std::string>& program_;
  int threads_;
  std::map<std::int64_t, Running> running_;
};

}  // namespace

bool run_trials_in_children(const TuneStudy& study, TrialQueue& queue,
                            const std::vector<std::string>& program, std::size_t at_once,
                            int threads, const run::Requests& requests, const TuneWatch& watch) {
  std::filesystem::create_directories(std::filesystem::path(log_of(study.folder, 1)).parent_path());
  Children children(study, queue, program, threads);
  bool stopping = false, enough = false;
  for (;;) {
    children.collect(stopping || enough);
    queue.beat();
    if (!stopping && requests.stop()) {
      stopping = true;
      children.tell(SIGTERM);
    }
    if (!enough && queue.has_enough()) {
      enough = true;
      children.tell(SIGTERM);
    }
    while (!stopping && !enough && children.running() < at_once) {
      const auto claim = queue.take();
      if (!claim) break;
      children.start(*claim);
    }
    queue.store().read();
    if (watch) watch(queue.store().trials());
    if (children.running() == 0) {
      if (stopping) return false;
      if (enough || (!queue.over().empty() && queue.all_ended())) return true;
    }
    std::this_thread::sleep_for(nap);
  }
}

bool run_trials_in_blocks(const TuneStudy& study, const std::function<TrialQueue()>& make_queue,
                          comm::Ranks& ranks, const run::Requests& requests,
                          const TuneWatch& watch) {
  comm::Ranks block(
      ranks.communicator().split(ranks.rank() / static_cast<int>(study.config.ranks)));
  block.timeout().set_config(ranks.timeout().config());
  const SignsOfLife signs(block);
  const bool leads = block.is_first();
  std::optional<TrialQueue> queue;
  if (leads) queue.emplace(make_queue());
  run::Requests asked = requests;
  asked.stop = [&] {
    if (queue) queue->beat();
    return requests.stop();
  };
  for (;;) {
    std::int64_t word = none_now, attempt = 0;
    if (leads) {
      queue->store().read();
      if (watch) watch(queue->store().trials());
      if (const auto claim = asked.stop() ? std::nullopt : queue->take()) {
        word = claim->number;
        attempt = claim->attempt;
      } else if (asked.stop())
        word = interrupted;
      else if (queue->has_enough() || (!queue->over().empty() && queue->all_ended()))
        word = study_over;
    }
    word = std::stoll(block.broadcast(text(word)));
    if (word == study_over || word == interrupted) return word == study_over;
    if (word == none_now) {
      std::this_thread::sleep_for(nap);
      continue;
    }
    record::TrialStore unread(records_of(study.folder), study.config.lease_s);
    const GroupEnd end =
        work_in_group(block, log_of(study.folder, word), [&](comm::Ranks& own, core::Log& log) {
          record::TrialStore& store = queue ? queue->store() : unread;
          return run_trial(study, store, word, attempt, own, asked, log);
        });
    if (!leads) continue;
    if (end.state == GroupEnd::State::failed && !queue->store().read().at(word).end &&
        queue->store().owns(word, attempt))
      queue->store().end(word, {.state = State::failed, .reason = end.reason});
    if (end.state == GroupEnd::State::interrupted) queue->store().give_back(word, attempt);
    queue->leave(word);
  }
}

}  // namespace sagips::study
