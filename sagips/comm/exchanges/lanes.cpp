#include "sagips/comm/exchanges/lanes.hpp"

#include <algorithm>
#include <utility>

#include "sagips/comm/topology.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {

// groups: places of the ranks in the group of all
Schedule schedule_of(const std::vector<std::vector<int>>& groups, int lanes, int index,
                     std::size_t floats) {
  const std::size_t mine = group_of(groups, index);
  const auto& node = groups[mine];
  const int k = static_cast<int>(node.size());
  const int j = index - node.front();
  const auto lane = [&](int number) { return piece(floats, number, lanes); };
  Schedule schedule;
  for (int distance = 1; distance < k; ++distance) {  // reduce-scatter: to each lane its part
    const int to = (j + distance) % k, from = (j + k - distance) % k;
    Hop hop;
    if (to < lanes) hop.to = node[static_cast<std::size_t>(to)], hop.send = lane(to);
    if (j < lanes) hop.from = node[static_cast<std::size_t>(from)], hop.receive = lane(j);
    schedule.push_back(hop);
  }
  if (j < lanes) {
    const int nodes = static_cast<int>(groups.size());
    if (nodes == 1) {
      if (schedule.empty()) schedule.push_back({});
      schedule.back().finished = lane(j);
    } else {
      for (Hop hop : halving_doubling(static_cast<int>(mine), nodes, lane(j))) {
        const auto place = [&](int node_number) {
          return node_number < 0 ? -1 : groups[static_cast<std::size_t>(node_number)].front() + j;
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
    if (j < lanes) hop.to = node[static_cast<std::size_t>(to)], hop.send = lane(j);
    if (from < lanes) hop.from = node[static_cast<std::size_t>(from)], hop.receive = lane(from);
    schedule.push_back(hop);
  }
  return schedule;
}

}  // namespace

std::unique_ptr<Exchange> lanes_over(const Site& site, std::vector<std::vector<int>> groups) {
  std::vector<int> ranks;
  int lanes = static_cast<int>(groups.front().size());
  for (auto& group : groups) {
    lanes = std::min(lanes, static_cast<int>(group.size()));
    for (int& rank : group) ranks.push_back(std::exchange(rank, static_cast<int>(ranks.size())));
  }
  const std::string description = core::text("lanes: ", lanes, " over ", groups.size(),
                                             groups.size() == 1 ? " group" : " groups");
  const auto plan = [places = std::move(groups), lanes](const Group& group, std::size_t floats) {
    return schedule_of(places, lanes, group.index(), floats);
  };
  return std::make_unique<ScheduledExchange>(Group(site, std::move(ranks)), description, plan);
}

}  // namespace sagips::comm
