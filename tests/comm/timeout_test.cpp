#include "sagips/comm/timeout.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "sagips/core/text.hpp"
#include "tests/comm/forked_node.hpp"
#include "tests/comm/lockstep.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::comm::testing {
namespace {

using sagips::testing::message_of;

struct Never final : Condition {
  bool ready() override { return false; }
};

// Rank 0 waits in vain for its first call with all ranks; `begins`: who has begun it.
std::string message_of_waiting(const std::vector<int>& nodes,
                               const std::vector<std::size_t>& begins) {
  LockstepNode node(nodes, {.timeout_s = 0.2, .alarmed = {}});
  node.team.clock_ns = 1'000'000'000;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) node.kit(rank).status.beat();
  for (const std::size_t rank : begins) node.kit(rank).status.begin_call(1, 1, node.team.clock_ns);
  node.communicator(0).while_waiting = [&] { node.team.clock_ns += 10'000'000; };
  Never never;
  Kit& kit = node.kit(0);
  return message_of<CommError>([&] {
    kit.timeout.wait(never, {kit.site(1).all_ranks(), 1, 1, "to the exchange of weights"});
  });
}

TEST(Timeout, NamesTheRankThatHasNotCome) {
  const std::string message = message_of_waiting({0, 0, 0}, {0, 1});
  EXPECT_EQ(message, core::text("rank 2 (process ", getpid(),
                                ") has not come to the exchange of weights within 0.2 s (it hangs, "
                                "or is much slower). Look at that rank, or raise "
                                "ranks.timeout_s."));
}

TEST(Timeout, PointsToOtherNodesWhenAllOfThisOneHaveCome) {
  const std::string message = message_of_waiting({0, 0, 1}, {0, 1, 2});
  EXPECT_EQ(message.rfind("a rank of another node has not come", 0), 0U) << message;
}

TEST(Timeout, BlamesNoOtherNodeWhereThereIsNone) {
  const std::string message = message_of_waiting({0, 0, 0}, {0, 1, 2});
  EXPECT_EQ(message.find("another node"), std::string::npos) << message;
}

TEST(Timeout, AsksUntilItIsReadyAndNoMore) {
  on_threads({.ranks = 1}, [](Kit& kit) {
    int asked = 0;
    Until soon([&] { return ++asked == 1000; });
    kit.timeout.wait(soon, {});
    EXPECT_EQ(asked, 1000);
  });
}

TEST(Timeout, NamesARankThatDiedLongBeforeTheTimeLimit) {
  ForkedNode node;
  node.run_child([](ForkedRank& rank) {
    const RankStatus status(rank);
    raise(SIGKILL);
  });
  ForkedRank here(node.memory(), 0, 2);
  RankStatus status(here);
  Timeout timeout(here, status, {.timeout_s = 60, .alarmed = {}});
  Never never;
  EXPECT_EQ(message_of<CommError>([&] {
              timeout.wait(never, {{0, 1}, 0, 1, "anywhere"});
            }),
            core::text("rank 1 (process ", node.child(),
                       ") has died (its process is gone). The job cannot go on without it."))
      << "at the time limit it would not have come";
}

TEST(Timeout, LooksForTheDeadWhenAlarmed) {
  ForkedNode node;
  node.run_child([](ForkedRank& rank) {
    const RankStatus status(rank);
    raise(SIGKILL);
  });
  ForkedRank here(node.memory(), 0, 2);
  RankStatus status(here);
  bool alarm = false;
  Timeout timeout(here, status, {.timeout_s = 60, .alarmed = [&] { return alarm; }});
  EXPECT_NO_THROW(timeout.look_after()) << "cheap: does not look without an alarm";
  alarm = true;
  EXPECT_NE(message_of<CommError>([&] { timeout.look_after(); }).find("has died"),
            std::string::npos);
}

TEST(Timeout, GoesOnAfterAnAlarmWhenAllLive) {
  on_threads({.ranks = 2}, [](Kit& kit) {
    Timeout timeout(kit.communicator, kit.status,
                    {.timeout_s = 60, .alarmed = [] { return true; }});
    EXPECT_NO_THROW(timeout.look_after());
    kit.barrier();
  });
}

TEST(Timeout, GivesSignsOfLifeWhileItWaits) {
  on_threads({.ranks = 1}, [](Kit& kit) {
    const std::int64_t before = kit.status.last_beat_ns(0);
    Until beaten([&] { return kit.status.last_beat_ns(0) > before; });
    EXPECT_NO_THROW(kit.timeout.wait(beaten, {}));
  });
}

}  // namespace
}  // namespace sagips::comm::testing
