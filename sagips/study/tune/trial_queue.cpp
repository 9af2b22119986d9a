#include "sagips/study/tune/trial_queue.hpp"

#include <algorithm>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/study/members.hpp"
#include "sagips/study/tune/run_trial.hpp"

namespace sagips::study {

namespace {

using State = record::TrialEnd::State;
constexpr std::size_t hopeless = 10;  // trials, all failed
constexpr std::int64_t look_every_ns = 1'000'000'000;

}  // namespace

TrialQueue::TrialQueue(const TuneConfig& config, const std::string& study_folder,
                       std::string runs_folder, std::uint64_t seed, std::int64_t epochs)
    : config_(config),
      runs_folder_(std::move(runs_folder)),
      store_(records_of(study_folder), config.lease_s),
      next_(config, seed, epochs),
      began_ns_(comm::now_ns()) {}

bool TrialQueue::has_enough() const { return target_reached(store_.trials(), config_); }

std::string TrialQueue::over() const {
  if (has_enough()) return core::text("target reached: ", config_.metric());
  const double minutes = static_cast<double>(comm::now_ns() - began_ns_) / 60e9;
  if (config_.minutes > 0 && minutes >= config_.minutes) return "time limit";
  const std::int64_t all = next_.all_trials();
  return static_cast<std::int64_t>(store_.trials().size()) >= all ? core::text(all, " trials") : "";
}

bool TrialQueue::all_ended() const {
  const auto& trials = store_.trials();
  return std::all_of(trials.begin(), trials.end(),
                     [](const auto& one) { return one.second.end.has_value(); });
}

// Its worker is gone or suspended, but not yet who trains: the folder of its run is locked.
bool TrialQueue::still_runs(std::int64_t trial) const {
  for (std::int64_t training = 1; training <= config_.trainings(); ++training) {
    if (is_in_use(core::text(runs_folder_, "/", run_name_of(trial, training, config_))))
      return true;
  }
  return false;
}

std::optional<record::TrialClaim> TrialQueue::take_back() {
  const bool looks_at_all = comm::now_ns() - looked_ns_ >= look_every_ns;
  if (looks_at_all) looked_ns_ = comm::now_ns();
  waits_ = false;
  for (const auto& [number, trial] : store_.trials()) {
    if (own_.count(number) > 0 || !(looks_at_all || trial.waits()) || !store_.is_free(trial))
      continue;
    if (still_runs(number)) {
      waits_ = waits_ || trial.waits();
      continue;
    }
    record::TrialClaim claim = trial.claim;
    ++claim.attempt;
    claim.trainings = config_.trainings();  // which claims of older versions lack
    if (store_.claim(claim)) return claim;
  }
  return {};
}

std::optional<record::TrialClaim> TrialQueue::take() {
  const auto& trials = store_.read();
  std::size_t ended = 0, failed = 0;
  const record::TrialRecord* last = nullptr;
  for (const auto& [number, trial] : trials) {
    if (!trial.end) continue;
    ++ended;
    failed += trial.end->state == State::failed ? 1 : 0;
    last = &trial;
  }
  if (ended >= hopeless && failed == ended) {
    std::string reason = last->end->reason;
    if (!reason.empty() && reason.back() == '.') reason.pop_back();
    throw AllFailed(core::text("all ", ended, " trials so far have failed, the last one: ", reason,
                               ". Look at its settings in tune.space and at its log; once they "
                               "are mended, --fresh begins a new search."));
  }
  std::optional<record::TrialClaim> claim = has_enough() ? std::nullopt : take_back();
  while (!claim && !waits_ && over().empty()) {
    claim = next_(store_.trials());
    if (!claim) return {};
    if (store_.claim(*claim)) break;
    claim.reset();  // somebody was faster
    store_.read();
  }
  if (!claim) return {};
  own_[claim->number] = claim->attempt;
  store_.read();
  return claim;
}

void TrialQueue::beat() {
  if (static_cast<double>(comm::now_ns() - beaten_ns_) * 1e-9 < config_.lease_s / 4) return;
  beaten_ns_ = comm::now_ns();
  for (const auto& [number, attempt] : own_) store_.beat(number, attempt);
}

}  // namespace sagips::study
