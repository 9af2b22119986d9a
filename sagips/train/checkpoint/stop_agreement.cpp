#include "sagips/train/checkpoint/accord.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sagips::train {

namespace {

constexpr double meeting_period_s = 0.25;
const int verdict_tag = comm::tag_of(comm::ControlTag::verdict);

}  // namespace

Accord::Accord(comm::Ranks& ranks, bool waits)
    : ranks_(ranks), waits_(waits), last_meeting_ns_(comm::now_ns()) {
  const auto all = ranks.gather(waits ? 1 : 0);
  for (int rank = 1; rank < ranks.size(); ++rank)
    (all[static_cast<std::size_t>(rank)] != 0 ? waiting_ : free_).push_back(rank);
  if (!ranks.is_first() && !waits_) expect();
}

void Accord::expect() {
  expected_ = ranks_.communicator().receive(0, verdict_tag, comm::bytes_of(received_));
}

void Accord::tell(const std::vector<int>& whom, const Verdict& verdict) {
  for (comm::Request& request : under_way_)
    ranks_.patience().wait(request, {.what = "to a meeting", .however_long = true});
  under_way_.clear();
  sent_ = verdict;
  for (const int rank : whom)
    under_way_.push_back(ranks_.communicator().send(rank, verdict_tag, comm::bytes_of(sent_)));
}

// From the pace since the last meeting; at most twice as far as that.
std::int64_t Accord::meeting_after(std::int64_t epoch) {
  const std::int64_t now = comm::now_ns();
  const auto epochs = static_cast<double>(std::max<std::int64_t>(1, epoch - last_meeting_));
  const double epoch_s = static_cast<double>(now - last_meeting_ns_) * 1e-9 / epochs;
  const double ahead = std::min(meeting_period_s / std::max(epoch_s, 1e-9), 2 * epochs);
  last_meeting_ = epoch;
  last_meeting_ns_ = now;
  return epoch + std::max<std::int64_t>(1, std::llround(ahead));
}

Accord::Verdict Accord::verdict_on(const Wish& wish) {
  Verdict verdict;
  verdict.stop = wish.stop.empty() ? 0 : 1;
  verdict.checkpoint = verdict.stop != 0 ? 0 : wish.checkpoint;  // all write one at the end
  std::copy_n(wish.stop.data(), std::min(wish.stop.size(), verdict.reason.size() - 1),
              verdict.reason.begin());
  return verdict;
}

Accord::Word Accord::decide(std::int64_t epoch, const Wish& wish) {
  if (!waiting_.empty() && epoch < next_meeting_) return {};
  Verdict verdict = verdict_on(wish);
  next_meeting_ = meeting_after(epoch);
  if (wish.meet_by > epoch) next_meeting_ = std::min(next_meeting_, wish.meet_by);
  verdict.next_meeting = next_meeting_;
  std::vector<int> whom = waiting_;
  if (verdict.stop != 0 || verdict.checkpoint != 0)
    whom.insert(whom.end(), free_.begin(), free_.end());
  if (!whom.empty()) tell(whom, verdict);
  return {wish.stop, verdict.checkpoint};
}

Accord::Word Accord::after_last_epoch(const Wish& wish) {
  const Verdict verdict = verdict_on(wish);
  if (free_.empty() || (verdict.stop == 0 && verdict.checkpoint == 0)) return {};
  tell(free_, verdict);
  return {wish.stop, verdict.checkpoint};
}

Accord::Word Accord::hear(std::int64_t epoch) {
  if (waits_) {
    if (epoch < next_meeting_) return {};
    comm::Request verdict =
        ranks_.communicator().receive(0, verdict_tag, comm::bytes_of(received_));
    ranks_.patience().wait(verdict,
                           {.partners = {0}, .what = "to a meeting", .however_long = true});
    next_meeting_ = received_.next_meeting;
  } else if (!expected_.ready()) {
    return {};
  }
  told_ = received_.stop != 0;
  const Word word{told_ ? std::string(received_.reason.data()) : std::string(),
                  received_.checkpoint};
  if (!waits_ && !told_) expect();  // a checkpoint, and more may follow
  return word;
}

Accord::Word Accord::operator()(std::int64_t epoch, const Wish& wish) {
  if (ranks_.size() == 1) return {wish.stop, wish.stop.empty() ? wish.checkpoint : 0};
  return ranks_.is_first() ? decide(epoch, wish) : hear(epoch);
}

void Accord::part() {
  if (ranks_.size() == 1) return;
  if (ranks_.is_first()) {
    std::vector<int> everybody = waiting_;
    everybody.insert(everybody.end(), free_.begin(), free_.end());
    tell(everybody, {.stop = 2});
    for (comm::Request& request : under_way_)
      ranks_.patience().wait(request, {.what = "to the end", .however_long = true});
    under_way_.clear();
    ranks_.board().take_leave();
    return;
  }
  // A rank that never waits may still expect the word to stop; one that heard it expects another.
  if (waits_ || told_) expect();
  for (;;) {
    ranks_.patience().wait(expected_,
                           {.partners = {0}, .what = "to the end", .however_long = true});
    if (received_.stop == 2) break;
    expect();
  }
  ranks_.board().take_leave();
}

}  // namespace sagips::train
