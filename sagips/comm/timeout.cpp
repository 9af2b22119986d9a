#include "sagips/comm/timeout.hpp"

#include <algorithm>

#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {

constexpr std::int64_t death_check_ns = 100'000'000;
constexpr double longest_sign_period_ns = 1e9, signs_within_limit = 20;
constexpr double silent_ns = 1e9;     // ten times as long as who waits is silent
constexpr double long_pieces = 0.25;  // of the time limit: a later one may well exceed it

}  // namespace

Timeout::Timeout(Communicator& communicator, RankStatus& status, Config config)
    : communicator_(communicator), status_(status), config_(std::move(config)) {}

void Timeout::wait(Condition& condition, const Whom& whom) {
  if (condition.ready()) return;
  if (whom.however_long) return wait_long(condition, whom);
  std::int64_t start = communicator_.now_ns();
  std::int64_t next_check = start + death_check_ns;
  std::uint64_t counted = whom.count ? whom.count() : 0;
  for (std::int64_t poll = 1; !condition.ready(); ++poll) {
    communicator_.pause(poll);
    if (poll % 16 != 0) continue;
    heed_alarm();
    if (whom.count) check_silence({});
    const std::int64_t now = communicator_.now_ns();
    if (now > next_check) {
      status_.beat();
      check_deaths();
      next_check = now + death_check_ns * (1 + communicator_.ranks_on_node() / 16);
    }
    if (whom.count && whom.count() != counted) {
      counted = whom.count();
      start = now;
    }
    if (static_cast<double>(now - start) > config_.timeout_s * 1e9) give_up(whom);
  }
}

void Timeout::wait_long(Condition& condition, const Whom& whom) {
  std::int64_t next_check = communicator_.now_ns() + death_check_ns;
  while (!condition.ready()) {
    communicator_.rest();
    heed_alarm();
    check_silence(whom.partners);
    const std::int64_t now = communicator_.now_ns();
    if (now < next_check) continue;
    next_check = now + death_check_ns;
    status_.beat();
    check_deaths();
  }
}

std::int64_t Timeout::sign_period_ns() const {
  return static_cast<std::int64_t>(
      std::min(longest_sign_period_ns, config_.timeout_s * 1e9 / signs_within_limit));
}

// Time in which this rank did not look is none: all of them may have been suspended together.
void Timeout::check_silence(const std::vector<int>& ranks) {
  const std::int64_t now = communicator_.now_ns();
  const double limit_ns = config_.timeout_s * 1e9;
  const std::int64_t period = sign_period_ns();
  if (now < looked_ns_ + period) return;
  const std::int64_t looked = std::min(now - looked_ns_, 2 * period);
  looked_ns_ = now;
  status_.beat();
  watched_.resize(static_cast<std::size_t>(communicator_.size()));
  for (int rank = 0; rank < communicator_.size(); ++rank) {
    Watched& watched = watched_[static_cast<std::size_t>(rank)];
    const std::int64_t sign = rank == communicator_.rank() ? 0 : status_.last_sign_ns(rank);
    const bool is_silent = sign != 0 && sign == watched.sign_ns;
    watched = {sign, is_silent ? watched.silent_ns + looked : 0};
    if (static_cast<double>(watched.silent_ns) <= limit_ns) continue;
    if (!ranks.empty() && std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) continue;
    throw CommError(core::text(status_.name(rank), " has shown no sign of life for ",
                               config_.timeout_s,
                               " s (it hangs, or is suspended). Look at that "
                               "rank, or raise ranks.timeout_s."));
  }
}

// Time passed without a look is a piece of work; the next one may take longer than the time limit.
void Timeout::look_after() {
  heed_alarm();
  const std::int64_t now = communicator_.now_ns();
  if (now < looked_ns_ + sign_period_ns()) return;
  const auto piece_ns = static_cast<double>(looked_ns_ > 0 ? now - looked_ns_ : 0);
  status_.expect_silence(piece_ns > long_pieces * config_.timeout_s * 1e9);
  check_silence({});
}

void Timeout::heed_alarm() {
  if (config_.alarmed && config_.alarmed()) check_deaths();
}

void Timeout::check_deaths() const {
  const int dead = status_.dead_rank();
  if (dead >= 0)
    throw CommError(core::text(
        status_.name(dead), " has died (its process is gone). The job cannot go on without it."));
  if (status_.failure_claimed())
    throw CommError("another rank has failed. The job cannot go on without it.");
}

void Timeout::give_up(const Whom& whom) const {
  check_deaths();
  const double long_ns = std::max(silent_ns, config_.timeout_s * 1e9 / 2);
  const int culprit =
      status_.culprit(whom.partners, whom.exchange, whom.call, static_cast<std::int64_t>(long_ns));
  const bool elsewhere = std::any_of(whom.partners.begin(), whom.partners.end(),
                                     [this](int rank) { return status_.last_beat_ns(rank) == 0; });
  const std::string who = culprit >= 0 ? status_.name(culprit)
                          : elsewhere  ? std::string("a rank of another node")
                                       : std::string("a partner that shows signs of life");
  throw CommError(core::text(who, " has not come ", whom.what, " within ", config_.timeout_s,
                             " s (it hangs, or is much slower). Look at that rank, or raise "
                             "ranks.timeout_s."));
}

}  // namespace sagips::comm
