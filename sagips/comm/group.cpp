#include "sagips/comm/group.hpp"

#include <algorithm>

namespace sagips::comm {

Group::Group(const Site& site, std::vector<int> ranks, int tags)
    : communicator_(site.communicator),
      traffic_(site.traffic),
      ranks_(std::move(ranks)),
      first_tag_(*site.next_tag) {
  *site.next_tag += tags;
  const auto found = std::find(ranks_.begin(), ranks_.end(), communicator_->rank());
  if (found != ranks_.end()) index_ = static_cast<int>(found - ranks_.begin());
}

Request Group::send_bytes(int to, std::span<const std::byte> message, int tag) const {
  count(1, message.size());
  return communicator_->send(rank_of(to), first_tag_ + tag, message);
}

Request Group::receive_bytes(int from, std::span<std::byte> message, int tag) const {
  return communicator_->receive(rank_of(from), first_tag_ + tag, message);
}

void Group::count(std::uint64_t messages, std::uint64_t bytes) const {
  traffic_->messages += messages;
  traffic_->bytes += bytes;
}

Piece piece(std::size_t floats, int i, int n) {
  const auto count = static_cast<std::size_t>(n), index = static_cast<std::size_t>(i);
  const std::size_t each = floats / count, more = floats % count;
  return {index * each + std::min(index, more), each + (index < more ? 1 : 0)};
}

}  // namespace sagips::comm
