#include "sagips/comm/outbox.hpp"

#include <numeric>
#include <utility>

namespace sagips::comm {

Outbox::Outbox(Ranks& ranks, ControlTag tag, Receive receive, std::vector<int> senders)
    : ranks_(ranks), tag_(tag_of(tag)), receive_(std::move(receive)), senders_(std::move(senders)) {
  if (senders_.empty()) {
    senders_.resize(static_cast<std::size_t>(ranks.size()));
    std::iota(senders_.begin(), senders_.end(), 0);
  }
  if (!ranks.is_first()) return;
  incoming_.resize(senders_.size());
  for (std::size_t place = 1; place < incoming_.size(); ++place) expect(place);
}

void Outbox::send(Message message) {
  is_empty();  // lets go of what is gone
  const Head head{message.number, message.is_last ? 1 : 0, message.content.size()};
  Outgoing& one = outgoing_.emplace_back(Outgoing{head, std::move(message.content)});
  one.head_sent = ranks_.communicator().send(0, tag_, bytes_of(one.head));
  if (head.bytes > 0) one.content_sent = ranks_.communicator().send(0, tag_, one.content);
}

bool Outbox::is_empty() {
  while (!outgoing_.empty() && outgoing_.front().head_sent.ready() &&
         outgoing_.front().content_sent.ready())
    outgoing_.pop_front();
  return outgoing_.empty();
}

void Outbox::wait_until_empty(const std::string& what) {
  Until empty([this] { return is_empty(); });
  ranks_.timeout().wait(empty, {.partners = {0}, .what = what, .however_long = true});
}

void Outbox::expect(std::size_t place) {
  Incoming& from = incoming_[place];
  from.request = ranks_.communicator().receive(senders_[place], tag_, bytes_of(from.head));
}

bool Outbox::take(std::size_t place) {
  Incoming& from = incoming_[place];
  if (from.has_left || !from.request.ready()) return false;
  if (from.head.bytes > 0 && !std::exchange(from.has_head, true)) {
    from.content.resize(from.head.bytes);
    from.request = ranks_.communicator().receive(senders_[place], tag_, from.content);
    if (!from.request.ready()) return false;
  }
  from.has_head = false;
  from.has_left = from.head.is_last != 0;
  const std::int64_t number = from.head.number;
  std::vector<std::byte> content = std::exchange(from.content, {});
  if (!from.has_left) expect(place);
  receive_(place, {number, from.has_left, std::move(content)});
  return true;
}

void Outbox::wait_for(std::size_t place, const std::string& what) {
  Until came([&] { return take(place); });
  ranks_.timeout().wait(came, {.partners = {senders_[place]}, .what = what, .however_long = true});
}

std::vector<std::vector<std::byte>> gather(Ranks& ranks, ControlTag tag,
                                           std::vector<std::byte> mine, const std::string& what) {
  std::vector<std::vector<std::byte>> all(static_cast<std::size_t>(ranks.size()));
  Outbox outbox(ranks, tag, [&all](std::size_t place, Outbox::Message message) {
    all[place] = std::move(message.content);
  });
  if (!ranks.is_first()) {
    outbox.send({.is_last = true, .content = std::move(mine)});
    outbox.wait_until_empty(what);
    return {};
  }
  all.front() = std::move(mine);
  for (std::size_t place = 1; place < all.size(); ++place) outbox.wait_for(place, what);
  return all;
}

}  // namespace sagips::comm
