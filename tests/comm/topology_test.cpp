#include "sagips/comm/topology.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::comm {
namespace {

using sagips::testing::message_of;

std::vector<TreePlace> tree_of(std::size_t tree, int n) {
  std::vector<TreePlace> places;
  for (int rank = 0; rank < n; ++rank) places.push_back(two_trees(rank, n)[tree]);
  return places;
}

const TreePlace& at(const std::vector<TreePlace>& places, int rank) {
  return places[static_cast<std::size_t>(rank)];
}

int depth_below(const std::vector<TreePlace>& places, int rank, std::set<int>& seen) {
  EXPECT_TRUE(seen.insert(rank).second) << "rank " << rank << " is reached twice";
  int depth = 0;
  for (const int child : at(places, rank).children) {
    if (child < 0) continue;
    EXPECT_EQ(at(places, child).parent, rank);
    depth = std::max(depth, 1 + depth_below(places, child, seen));
  }
  return depth;
}

TEST(TwoTrees, AreTreesOverAllRanks) {
  for (int n = 1; n <= 64; ++n)
    for (std::size_t tree = 0; tree < 2; ++tree) {
      const auto places = tree_of(tree, n);
      std::vector<int> roots;
      for (int rank = 0; rank < n; ++rank)
        if (at(places, rank).parent < 0) roots.push_back(rank);
      ASSERT_EQ(roots.size(), 1U) << n << " ranks, tree " << tree;
      std::set<int> seen;
      const int depth = depth_below(places, roots[0], seen);
      EXPECT_EQ(static_cast<int>(seen.size()), n) << "tree " << tree;
      EXPECT_LE(depth, std::log2(n) + 2) << n << " ranks, tree " << tree;
    }
}

TEST(TwoTrees, GiveNoRankChildrenInBoth) {
  const auto has_children = [](const TreePlace& place) {
    return place.children[0] >= 0 || place.children[1] >= 0;
  };
  for (int n = 1; n <= 64; ++n)
    for (int rank = 0; rank < n; ++rank) {
      const auto places = two_trees(rank, n);
      EXPECT_FALSE(has_children(places[0]) && has_children(places[1])) << rank << " of " << n;
    }
}

// Message number m from one place to another is the same piece on both ends.
void expect_matching(const std::vector<Schedule>& schedules) {
  using Messages = std::map<std::pair<int, int>, std::vector<Piece>>;
  Messages sent, received;
  for (int place = 0; place < static_cast<int>(schedules.size()); ++place)
    for (const Hop& hop : schedules[static_cast<std::size_t>(place)]) {
      if (hop.to >= 0) sent[{place, hop.to}].push_back(hop.send);
      if (hop.from >= 0) received[{hop.from, place}].push_back(hop.receive);
    }
  ASSERT_EQ(sent.size(), received.size());
  for (const auto& [link, pieces] : sent) {
    const auto& others = received[link];
    ASSERT_EQ(pieces.size(), others.size()) << link.first << " to " << link.second;
    for (std::size_t m = 0; m < pieces.size(); ++m) {
      EXPECT_EQ(pieces[m].first, others[m].first) << link.first << " to " << link.second;
      EXPECT_EQ(pieces[m].size, others[m].size) << link.first << " to " << link.second;
    }
  }
}

TEST(HalvingDoubling, SendsWhatTheOthersReceive) {
  for (int n = 1; n <= 17; ++n)
    for (const std::size_t floats : {0U, 1U, 5U, 1000U}) {
      std::vector<Schedule> schedules;
      for (int place = 0; place < n; ++place)
        schedules.push_back(halving_doubling(place, n, {40, floats}));
      expect_matching(schedules);
    }
}

TEST(HalvingDoubling, FinishesEachFloatOnce) {
  for (int n = 2; n <= 17; ++n) {
    std::vector<int> finished(1040, 0);
    for (int place = 0; place < n; ++place)
      for (const Hop& hop : halving_doubling(place, n, {40, 1000}))
        for (std::size_t i = 0; i < hop.finished.size; ++i) ++finished[hop.finished.first + i];
    for (std::size_t i = 0; i < finished.size(); ++i)
      ASSERT_EQ(finished[i], i < 40 ? 0 : 1) << n << " ranks, float " << i;
  }
}

TEST(HalvingDoubling, NeverSendsAndReceivesTheSameFloatsInPlace) {
  for (int n = 2; n <= 17; ++n)
    for (int place = 0; place < n; ++place)
      for (const Hop& hop : halving_doubling(place, n, {0, 1000}))
        if (hop.to >= 0 && hop.from >= 0) {
          EXPECT_TRUE(hop.send.first + hop.send.size <= hop.receive.first ||
                      hop.receive.first + hop.receive.size <= hop.send.first);
        }
}

TEST(HalvingDoubling, CostsWhatTheBookSaysForPowersOfTwo) {
  for (const int n : {2, 4, 8, 16}) {
    const Cost cost = cost_of(halving_doubling(1, n, {0, 1600}));
    EXPECT_EQ(cost.messages, static_cast<std::uint64_t>(2 * std::lround(std::log2(n))));
    EXPECT_EQ(cost.bytes, static_cast<std::uint64_t>(2 * (n - 1)) * 4 * 1600 / n);
  }
}

TEST(MakeGroups, CutsConsecutiveRanksOfAnySize) {
  const std::vector<int> nodes(7, 0);
  EXPECT_EQ(make_groups(nodes, 3), (std::vector<std::vector<int>>{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(make_groups(nodes, 7).size(), 1U);
  EXPECT_EQ(make_groups(nodes, 1).size(), 7U);
}

TEST(MakeGroups, TakesTheRanksOfEachNodeForZero) {
  EXPECT_EQ(make_groups({0, 1, 0, 1, 2}, 0), (std::vector<std::vector<int>>{{0, 2}, {1, 3}, {4}}));
}

TEST(MakeGroups, RefusesGroupsThatAreTooLarge) {
  const auto refusal = [](std::size_t ranks, std::int64_t size) {
    return message_of<core::ConfigError>([&] { make_groups(std::vector<int>(ranks, 0), size); });
  };
  EXPECT_EQ(refusal(2, 3),
            "exchanges.grouped.group_size: groups of 3 ranks cannot be made of 2 ranks. Use 1 to "
            "2, or 0 for one group a node.");
  EXPECT_NE(refusal(1, 2).find("of 1 rank."), std::string::npos);
  EXPECT_NE(refusal(4, -1).find("groups of -1 ranks"), std::string::npos);
}

TEST(GroupOf, FindsARankOrSaysThatItIsNowhere) {
  const std::vector<std::vector<int>> groups{{0, 2}, {1, 3}};
  EXPECT_EQ(group_of(groups, 2), 0U);
  EXPECT_EQ(group_of(groups, 3), 1U);
  EXPECT_EQ(message_of<core::Error>([&] { group_of(groups, 4); }), "rank 4 is in no group.");
}

TEST(ExponentialOffset, ReachesEverybodyInOneRound) {
  for (int n = 1; n <= 33; ++n) {
    std::set<int> heard{0};  // the ranks that have heard of rank 0
    const auto rounds = static_cast<std::int64_t>(std::ceil(std::log2(n)));
    for (std::int64_t epoch = 5; epoch < 5 + rounds; ++epoch) {
      const int offset = exponential_offset(epoch, n);
      EXPECT_GE(offset, 1);
      EXPECT_LT(offset, n);
      const std::set<int> before = heard;
      for (const int rank : before) heard.insert((rank + offset) % n);
    }
    EXPECT_EQ(static_cast<int>(heard.size()), n);
  }
}

TEST(ExponentialOffset, OfOneRankIsZero) { EXPECT_EQ(exponential_offset(3, 1), 0); }

TEST(Piece, CutsAnArrayWithoutGapsIntoPiecesThatDifferByAtMostOne) {
  for (const std::size_t floats : {0U, 1U, 7U, 100U})
    for (int n = 1; n <= 9; ++n) {
      std::size_t next = 0;
      for (int i = 0; i < n; ++i) {
        const Piece here = piece(floats, i, n);
        EXPECT_EQ(here.first, next);
        next += here.size;
        EXPECT_LE(piece(floats, 0, n).size - here.size, 1U);
      }
      EXPECT_EQ(next, floats);
    }
}

TEST(NumberNodes, CountsInTheOrderOfTheLowestRanks) {
  EXPECT_EQ(number_nodes({0, 1, 0, 1, 4}), (std::vector<int>{0, 1, 0, 1, 2}));
}

TEST(PowerOfTwoBelow, IsTheLargestThatIsNotGreater) {
  EXPECT_EQ(power_of_two_below(1), 1);
  EXPECT_EQ(power_of_two_below(8), 8);
  EXPECT_EQ(power_of_two_below(9), 8);
  EXPECT_EQ(power_of_two_below(15), 8);
}

}  // namespace
}  // namespace sagips::comm
