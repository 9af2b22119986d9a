#pragma once
#include <functional>
#include <span>
#include <vector>

#include "sagips/comm/group.hpp"

namespace sagips::comm {

/// Sends each other member of a group a message and receives one of each, all at once. give, take: by the other's
/// place, buffers that stay
inline Task all_to_all(const Group& group, std::function<std::span<const std::byte>(int)> give,
                       std::function<std::span<std::byte>(int)> take, int tag = 0) {
  const int n = group.size(), i = group.index();
  std::vector<Request> under_way;
  for (int hop = 1; hop < n; ++hop) {  // not everybody to the same one first
    const int to = (i + hop) % n, from = (i + n - hop) % n;
    under_way.push_back(group.receive_bytes(from, take(from), tag));
    under_way.push_back(group.send_bytes(to, give(to), tag));
  }
  for (Request& request : under_way) co_await request;
}

}  // namespace sagips::comm
