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

// --- ranks that nobody waits for --------------------------------------------------------------------

/// Rank 0 of a node looks after the others, which live as long as they are told to.
struct Watch {
  static constexpr std::int64_t second_ns = 1'000'000'000;

  explicit Watch(const std::vector<int>& nodes) : node(nodes, {.timeout_s = 10, .alarmed = {}}) {
    node.team.clock_ns = 100 * second_ns;
  }
  /// Looks for so long, now and then; returns what it threw.
  std::string look(int seconds, const std::vector<std::size_t>& living, double apart_s = 0.25) {
    return message_of<CommError>([&] {
      const std::int64_t end = node.team.clock_ns + seconds * second_ns;
      while (node.team.clock_ns < end) {
        node.team.clock_ns += static_cast<std::int64_t>(apart_s * second_ns);
        for (const std::size_t rank : living) node.kit(rank).status.beat();
        node.kit(0).timeout.look_after();
      }
      throw CommError("nobody was missed");
    });
  }
  LockstepNode node;
};

TEST(Timeout, NamesARankThatShowsNoSignOfLife) {
  Watch watch({0, 0, 0});
  EXPECT_EQ(watch.look(60, {1, 2}), "nobody was missed");
  EXPECT_EQ(watch.look(9, {1}), "nobody was missed");
  EXPECT_EQ(watch.look(60, {1, 2}), "nobody was missed") << "silence does not add up";
  const std::int64_t before = watch.node.team.clock_ns;
  EXPECT_EQ(
      watch.look(60, {1}).rfind(
          core::text("rank 2 (process ", getpid(), ") has shown no sign of life for 10 s"), 0),
      0U);
  EXPECT_LE(watch.node.team.clock_ns - before, 12 * Watch::second_ns);
}

TEST(Timeout, DoesNotMissARankThatHasLeft) {
  Watch watch({0, 0});
  watch.look(5, {1});
  watch.node.kit(1).status.take_leave();
  EXPECT_EQ(watch.look(60, {}), "nobody was missed");
}

// An evaluation, a checkpoint, the reading of files.
TEST(Timeout, DoesNotMissARankOfWhichSilenceIsExpected) {
  Watch watch({0, 0});
  watch.look(5, {1});
  RankStatus& busy = watch.node.kit(1).status;
  EXPECT_FALSE(busy.expect_silence(true));
  busy.begin_call(0, 1, watch.node.team.clock_ns);
  EXPECT_EQ(watch.look(60, {}), "nobody was missed");
  EXPECT_EQ(watch.look(60, {1}), "nobody was missed") << "where it waits meanwhile";
  EXPECT_EQ(watch.look(60, {}), "nobody was missed");
  EXPECT_TRUE(busy.expect_silence(false));
  EXPECT_EQ(watch.look(9, {}), "nobody was missed");
  EXPECT_EQ(watch.look(60, {}).rfind("rank 1 (process ", 0), 0U) << "suspended behind it";
}

// A tile of a slow simulator.
TEST(Timeout, DoesNotMissARankWhosePiecesTakeLongerThanTheTimeLimit) {
  Watch watch({0, 0});
  Kit& slow = watch.node.kit(1);
  slow.timeout.look_after();
  slow.status.expect_silence(true);  // as before the first step
  for (int piece = 0; piece < 3; ++piece) {
    EXPECT_EQ(watch.look(15, {}), "nobody was missed");
    slow.timeout.look_after();
  }
  EXPECT_EQ(watch.look(2, {}), "nobody was missed");
  slow.timeout.look_after();
  EXPECT_EQ(watch.look(60, {}).rfind("rank 1 (process ", 0), 0U) << "its pieces are short now";
}

// Ctrl-Z, or a scheduler that lets another job run.
TEST(Timeout, DoesNotCountTimeInWhichItWasSuspendedItself) {
  Watch watch({0, 0});
  watch.look(5, {1});
  watch.node.team.clock_ns += 1000 * Watch::second_ns;
  EXPECT_EQ(watch.look(5, {}), "nobody was missed");
  EXPECT_EQ(watch.look(60, {1}), "nobody was missed");
}

TEST(Timeout, HearsOfRanksOfOtherNodesByTheirMessages) {
  Watch watch({0, 1});
  EXPECT_EQ(watch.look(60, {}), "nobody was missed") << "nothing is known of it";
  watch.node.kit(0).status.heard(1, false);
  EXPECT_EQ(watch.look(9, {}), "nobody was missed");
  watch.node.kit(0).status.heard(1, false);
  EXPECT_EQ(watch.look(60, {}).rfind("rank 1 has shown no sign of life", 0), 0U);
  watch.node.kit(0).status.heard(1, true);
  EXPECT_EQ(watch.look(60, {}), "nobody was missed") << "it has left";
}

// Workers come as long as they live, whoever else does.
TEST(Timeout, NamesASilentRankAlthoughOthersCome) {
  LockstepNode node({0, 0, 0}, {.timeout_s = 10, .alarmed = {}});
  node.team.clock_ns = 1'000'000'000;
  node.kit(2).status.beat();
  std::uint64_t come = 0;
  node.communicator(0).while_waiting = [&] {
    node.team.clock_ns += 10'000'000;
    ++come;
    node.kit(1).status.beat();
  };
  Never never;
  const std::string message = message_of<CommError>([&] {
    node.kit(0).timeout.wait(never, {.partners = {1, 2}, .count = [&] { return come; }});
  });
  EXPECT_EQ(message.rfind("rank 2 (process ", 0), 0U) << message;
  EXPECT_LE(node.team.clock_ns, 15'000'000'000);
}

}  // namespace
}  // namespace sagips::comm::testing
