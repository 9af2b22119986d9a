#include "sagips/train/accord.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sagips::train {

namespace {

constexpr double meeting_period_s = 0.25;
const int tag = comm::tag_of(comm::ControlTag::verdict);

template <class Pod>
std::span<std::byte> bytes_of(Pod& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

Accord::Accord(comm::Ranks& ranks, bool waits)
    : ranks_(ranks), waits_(waits), last_meeting_ns_(comm::now_ns()) {
  const auto all = ranks.gather(waits ? 1 : 0);
  for (int rank = 1; rank < ranks.size(); ++rank)
    (all[static_cast<std::size_t>(rank)] != 0 ? waiting_ : free_).push_back(rank);
  if (!ranks.is_first() && !waits_) expect();
}

void Accord::expect() { expected_ = ranks_.communicator().receive(0, tag, bytes_of(received_)); }

void Accord::tell(const std::vector<int>& whom, const Verdict& verdict) {
  for (comm::Request& request : under_way_)
    ranks_.patience().wait(request, {.what = "to a meeting", .however_long = true});
  under_way_.clear();
  sent_ = verdict;
  for (const int rank : whom)
    under_way_.push_back(ranks_.communicator().send(rank, tag, bytes_of(sent_)));
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

std::string Accord::decide(std::int64_t epoch, const std::string& wish) {
  if (!waiting_.empty() && epoch < next_meeting_) return {};
  Verdict verdict;
  verdict.stop = wish.empty() ? 0 : 1;
  std::copy_n(wish.data(), std::min(wish.size(), verdict.reason.size() - 1),
              verdict.reason.begin());
  verdict.next_meeting = next_meeting_ = meeting_after(epoch);
  std::vector<int> whom = waiting_;
  if (!wish.empty()) whom.insert(whom.end(), free_.begin(), free_.end());
  if (!whom.empty()) tell(whom, verdict);
  return wish;
}

std::string Accord::hear(std::int64_t epoch) {
  if (waits_) {
    if (epoch < next_meeting_) return {};
    comm::Request verdict = ranks_.communicator().receive(0, tag, bytes_of(received_));
    ranks_.patience().wait(verdict,
                           {.partners = {0}, .what = "to a meeting", .however_long = true});
    next_meeting_ = received_.next_meeting;
  } else if (!expected_.ready()) {
    return {};
  }
  told_ = received_.stop != 0;
  return told_ ? std::string(received_.reason.data()) : std::string();
}

std::string Accord::operator()(std::int64_t epoch, const std::string& wish) {
  if (ranks_.size() == 1) return wish;
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
