#include "sagips/comm/exchanges/recursive_doubling.hpp"

#include "sagips/comm/topology.hpp"

namespace sagips::comm {

Schedule recursive_doubling(const Group& group, std::size_t floats) {
  const int n = group.size(), i = group.index();
  const int even = power_of_two_below(n), surplus = n - even;
  const Piece all{0, floats};
  if (i < 2 * surplus && i % 2 == 0)  // hands over to its neighbour and sits out
    return {{.to = i + 1, .send = all},
            {.from = i + 1, .receive = all, .action = Hop::Action::replace}};
  Schedule schedule;
  if (i < 2 * surplus) schedule.push_back({.from = i - 1, .receive = all});
  const int place = i < 2 * surplus ? i / 2 : i - surplus;
  for (int distance = 1; distance < even; distance *= 2) {
    const int other = place ^ distance;
    const int peer = other < surplus ? 2 * other + 1 : other + surplus;
    schedule.push_back({.to = peer, .from = peer, .send = all, .receive = all});
  }
  schedule.back().finished = all;
  if (i < 2 * surplus) schedule.push_back({.to = i - 1, .send = all});
  return schedule;
}

}  // namespace sagips::comm
