#include "sagips/comm/topology.hpp"

#include <algorithm>
#include <map>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

std::vector<std::vector<int>> make_groups(const std::vector<int>& nodes, std::int64_t group_size) {
  const auto ranks = static_cast<std::int64_t>(nodes.size());
  if (group_size < 0 || group_size > ranks)
    throw core::ConfigError("exchanges.grouped.group_size",
                            core::text("groups of ", group_size, " ranks cannot be made of ", ranks,
                                       ranks == 1 ? " rank" : " ranks", ". Use 1 to ", ranks,
                                       ", or 0 for one group a node."));
  std::map<std::int64_t, std::vector<int>> groups;
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    groups[group_size > 0 ? rank / group_size : nodes[static_cast<std::size_t>(rank)]].push_back(
        static_cast<int>(rank));
  std::vector<std::vector<int>> lists;
  for (auto& group : groups) lists.push_back(std::move(group.second));
  return lists;
}

std::size_t group_of(const std::vector<std::vector<int>>& groups, int rank) {
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (std::find(groups[g].begin(), groups[g].end(), rank) != groups[g].end()) return g;
  throw core::Error(core::text("rank ", rank, " is in no group."));
}

namespace {

// Labels count from 1. The root of an interval is its label with the most factors of two, so that
// odd labels are leaves.
int root_of(int first, int last) {
  if (first > last) return -1;
  int factor = 1;
  while ((last / (2 * factor)) * (2 * factor) >= first) factor *= 2;
  return last / factor * factor;
}

// Walks down from the root to `label`.
TreePlace place_of(int label, int n) {
  TreePlace place;
  int first = 1, last = n;
  for (int at = root_of(first, last); at != label; at = root_of(first, last)) {
    place.parent = at;
    if (label < at)
      last = at - 1;
    else
      first = at + 1;
  }
  place.children = {root_of(first, label - 1), root_of(label + 1, last)};
  return place;
}

}  // namespace

std::array<TreePlace, 2> two_trees(int rank, int n) {
  std::array<TreePlace, 2> places;
  for (int tree = 0; tree < 2; ++tree) {
    TreePlace place = place_of((rank + tree) % n + 1, n);
    const auto rank_of = [&](int label) { return label < 0 ? -1 : (label - 1 - tree + n) % n; };
    places[static_cast<std::size_t>(tree)] = {
        rank_of(place.parent), {rank_of(place.children[0]), rank_of(place.children[1])}};
  }
  return places;
}

int power_of_two_below(int n) {
  int power = 1;
  while (2 * power <= n) power *= 2;
  return power;
}

int exponential_offset(std::int64_t epoch, int n) {
  int offsets = 0;
  while ((1 << offsets) < n) ++offsets;
  return offsets == 0 ? 0 : 1 << (epoch % offsets);
}

Schedule halving_doubling(int index, int n, Piece where) {
  const int even = power_of_two_below(n);
  const int surplus = n - even;
  Schedule schedule;
  // The first 2 * surplus places pair up; even ones hand over to odd ones and sit out.
  if (index < 2 * surplus && index % 2 == 0) {
    schedule.push_back({.to = index + 1, .send = where});
    schedule.push_back({.from = index + 1, .receive = where, .action = Hop::Action::replace});
    return schedule;
  }
  if (index < 2 * surplus) schedule.push_back({.from = index - 1, .receive = where});
  const int place = index < 2 * surplus ? index / 2 : index - surplus;
  const auto at = [&](int other) { return other < surplus ? 2 * other + 1 : other + surplus; };
  const auto pieces = [&](int first, int count) {
    const Piece low = piece(where.size, first, even);
    const Piece high = piece(where.size, first + count - 1, even);
    return Piece{where.first + low.first, high.first + high.size - low.first};
  };

  // The halves go to the next neighbour and the small pieces far away: neighbours share a node or a
  // switch, and what is far shares its cables with many.
  int first = 0;  // this place keeps pieces [first, first + count) after each halving
  for (int distance = 1, count = even / 2; count > 0; distance *= 2, count /= 2) {
    const int peer = at(place ^ distance);
    const bool lower = (place & distance) == 0;
    const int keep = lower ? first : first + count, give = lower ? first + count : first;
    schedule.push_back(
        {.to = peer, .from = peer, .send = pieces(give, count), .receive = pieces(keep, count)});
    first = keep;
  }
  if (!schedule.empty()) schedule.back().finished = pieces(first, 1);
  for (int distance = even / 2, count = 1; distance > 0; distance /= 2, count *= 2) {
    const int peer = at(place ^ distance);
    const int start = first / count * count;
    schedule.push_back({.to = peer,
                        .from = peer,
                        .send = pieces(start, count),
                        .receive = pieces(start ^ count, count),
                        .action = Hop::Action::replace});
  }
  if (index < 2 * surplus) schedule.push_back({.to = index - 1, .send = where});
  return schedule;
}

}  // namespace sagips::comm
