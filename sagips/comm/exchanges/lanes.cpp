#include "sagips/comm/exchanges/lanes.hpp"

#include <algorithm>

#include "sagips/comm/topology.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {

std::vector<int> flat(const std::vector<std::vector<int>>& groups) {
  std::vector<int> ranks;
  for (const auto& group : groups) ranks.insert(ranks.end(), group.begin(), group.end());
  return ranks;
}

}  // namespace

Lanes::Lanes(const Site& site, std::vector<std::vector<int>> groups)
    : ScheduledExchange(Group(site, flat(groups))), groups_(std::move(groups)) {
  int place = 0;
  lanes_ = static_cast<int>(groups_.front().size());
  for (auto& group : groups_) {
    lanes_ = std::min(lanes_, static_cast<int>(group.size()));
    for (int& rank : group) rank = place++;
  }
}

Schedule Lanes::schedule(std::size_t floats) const {
  const std::size_t mine = group_of(groups_, group_.index());
  const auto& node = groups_[mine];
  const int k = static_cast<int>(node.size());
  const int j = group_.index() - node.front();
  const auto lane = [&](int number) { return piece(floats, number, lanes_); };
  Schedule schedule;
  for (int distance = 1; distance < k; ++distance) {  // reduce-scatter: to each lane its part
    const int to = (j + distance) % k, from = (j + k - distance) % k;
    Hop hop;
    if (to < lanes_) hop.to = node[static_cast<std::size_t>(to)], hop.send = lane(to);
    if (j < lanes_) hop.from = node[static_cast<std::size_t>(from)], hop.receive = lane(j);
    schedule.push_back(hop);
  }
  if (j < lanes_) {
    const int nodes = static_cast<int>(groups_.size());
    if (nodes == 1) {
      if (schedule.empty()) schedule.push_back({});
      schedule.back().finished = lane(j);
    } else {
      for (Hop hop : halving_doubling(static_cast<int>(mine), nodes, lane(j))) {
        const auto place = [&](int node_number) {
          return node_number < 0 ? -1 : groups_[static_cast<std::size_t>(node_number)].front() + j;
        };
        hop.to = place(hop.to);
        hop.from = place(hop.from);
        schedule.push_back(hop);
      }
    }
  }
  for (int distance = 1; distance < k; ++distance) {  // all-gather
    const int to = (j + distance) % k, from = (j + k - distance) % k;
    Hop hop{.action = Hop::Action::replace};
    if (j < lanes_) hop.to = node[static_cast<std::size_t>(to)], hop.send = lane(j);
    if (from < lanes_) hop.from = node[static_cast<std::size_t>(from)], hop.receive = lane(from);
    schedule.push_back(hop);
  }
  return schedule;
}

std::string Lanes::description() const {
  return core::text("lanes: ", lanes_, " over ", groups_.size(),
                    groups_.size() == 1 ? " group" : " groups");
}

}  // namespace sagips::comm
