#include "sagips/train/checkpoint/stop_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sagips::train {

namespace {

constexpr double meeting_period_s = 0.25;
const int agreement_tag = comm::tag_of(comm::ControlTag::agreement);

}  // namespace

StopAgreement::StopAgreement(comm::Ranks& ranks, bool waits)
    : ranks_(ranks), waits_(waits), last_meeting_ns_(comm::now_ns()) {
  const auto all = ranks.gather(waits ? 1 : 0);
  for (int rank = 1; rank < ranks.size(); ++rank)
    (all[static_cast<std::size_t>(rank)] != 0 ? waiting_ : free_).push_back(rank);
  if (!ranks.is_first() && !waits_) expect();
}

void StopAgreement::expect() {
  expected_ = ranks_.communicator().receive(0, agreement_tag, comm::bytes_of(received_));
}

void StopAgreement::tell(const std::vector<int>& whom, const Message& message) {
  for (comm::Request& request : under_way_)
    ranks_.timeout().wait(request, {.what = "to a meeting", .however_long = true});
  under_way_.clear();
  sent_ = message;
  for (const int rank : whom)
    under_way_.push_back(ranks_.communicator().send(rank, agreement_tag, comm::bytes_of(sent_)));
}

// From the pace since the last meeting; at most twice as far as that.
std::int64_t StopAgreement::meeting_after(std::int64_t epoch) {
  const std::int64_t now = comm::now_ns();
  const std::int64_t before = last_meeting_.value_or(epoch);  // a run may go on from any epoch
  const auto epochs = static_cast<double>(std::max<std::int64_t>(1, epoch - before));
  const double epoch_s = static_cast<double>(now - last_meeting_ns_) * 1e-9 / epochs;
  const double ahead = std::min(meeting_period_s / std::max(epoch_s, 1e-9), 2 * epochs);
  last_meeting_ = epoch;
  last_meeting_ns_ = now;
  return epoch + std::max<std::int64_t>(1, std::llround(ahead));
}

StopAgreement::Message StopAgreement::message_of(const Request& request) {
  Message message;
  message.stop = request.stop.kind;
  message.checkpoint = request.stop ? 0 : request.checkpoint;  // all write one at the end
  std::copy_n(request.stop.text.data(),
              std::min(request.stop.text.size(), message.reason.size() - 1),
              message.reason.begin());
  return message;
}

StopAgreement::Decision StopAgreement::decide(std::int64_t epoch, const Request& request) {
  if (!waiting_.empty() && epoch < next_meeting_) return {};
  Message message = message_of(request);
  next_meeting_ = meeting_after(epoch);
  if (request.meet_by > epoch) next_meeting_ = std::min(next_meeting_, request.meet_by);
  message.next_meeting = next_meeting_;
  std::vector<int> whom = waiting_;
  if (request.stop || message.checkpoint != 0) whom.insert(whom.end(), free_.begin(), free_.end());
  if (!whom.empty()) tell(whom, message);
  return {request.stop, message.checkpoint};
}

StopAgreement::Decision StopAgreement::after_last_epoch(const Request& request) {
  const Message message = message_of(request);
  if (free_.empty() || (!request.stop && message.checkpoint == 0)) return {};
  tell(free_, message);
  return {request.stop, message.checkpoint};
}

StopAgreement::Decision StopAgreement::hear(std::int64_t epoch) {
  if (waits_) {
    if (epoch < next_meeting_) return {};
    comm::Request message =
        ranks_.communicator().receive(0, agreement_tag, comm::bytes_of(received_));
    ranks_.timeout().wait(message, {.partners = {0}, .what = "to a meeting", .however_long = true});
    next_meeting_ = received_.next_meeting;
  } else if (!expected_.ready()) {
    return {};
  }
  Decision decision{{received_.stop, received_.reason.data()}, received_.checkpoint};
  told_ = static_cast<bool>(decision.stop);
  if (!waits_ && !told_) expect();  // a checkpoint, and more may follow
  return decision;
}

StopAgreement::Decision StopAgreement::operator()(std::int64_t epoch, const Request& request) {
  if (ranks_.size() == 1) return {request.stop, request.stop ? 0 : request.checkpoint};
  return ranks_.is_first() ? decide(epoch, request) : hear(epoch);
}

void StopAgreement::part() {
  if (ranks_.size() == 1) return;
  if (ranks_.is_first()) {
    std::vector<int> everybody = waiting_;
    everybody.insert(everybody.end(), free_.begin(), free_.end());
    tell(everybody, {.what = Message::What::end});
    for (comm::Request& request : under_way_)
      ranks_.timeout().wait(request, {.what = "to the end", .however_long = true});
    under_way_.clear();
    ranks_.status().take_leave();
    return;
  }
  // A rank that never waits may still expect the decision to stop; one that heard it expects another.
  if (waits_ || told_) expect();
  for (;;) {
    ranks_.timeout().wait(expected_, {.partners = {0}, .what = "to the end", .however_long = true});
    if (received_.what == Message::What::end) break;
    expect();
  }
  ranks_.status().take_leave();
}

}  // namespace sagips::train
