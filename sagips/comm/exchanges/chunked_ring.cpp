#include "sagips/comm/exchanges/chunked_ring.hpp"

#include "sagips/comm/topology.hpp"

namespace sagips::comm {

Schedule chunked_ring(const Group& group, std::size_t floats) {
  const int n = group.size(), i = group.index();
  const int left = (i + n - 1) % n, right = (i + 1) % n;
  const auto at = [&](int k) { return piece(floats, ((k % n) + n) % n, n); };
  Schedule schedule;
  for (int hop = 0; hop + 1 < n; ++hop)  // piece i - hop has been summed over hop + 1 ranks
    schedule.push_back({.to = right,
                        .from = left,
                        .send = at(i - hop),
                        .receive = at(i - hop - 1),
                        .action = Hop::Action::add});
  schedule.back().finished = at(i + 1);
  for (int hop = 0; hop + 1 < n; ++hop)
    schedule.push_back({.to = right,
                        .from = left,
                        .send = at(i + 1 - hop),
                        .receive = at(i - hop),
                        .action = Hop::Action::replace});
  return schedule;
}

}  // namespace sagips::comm
