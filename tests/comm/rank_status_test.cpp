#include "sagips/comm/rank_status.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>

#include "sagips/core/text.hpp"
#include "tests/comm/forked_node.hpp"
#include "tests/comm/lockstep.hpp"

namespace sagips::comm::testing {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

TEST(RankStatus, FindsARankWhoseProcessWasKilled) {
  ForkedNode node;
  node.run_child([](ForkedRank& rank) {
    const RankStatus status(rank);
    raise(SIGKILL);
  });
  ForkedRank here(node.memory(), 0, 2);
  const RankStatus status(here);
  EXPECT_EQ(status.dead_rank(), 1) << "a zombie is dead";
  EXPECT_EQ(status.culprit({0, 1}, 0, 1, second_ns), 1);
  EXPECT_EQ(status.name(1), core::text("rank 1 (process ", node.child(), ")"));
  node.bury();
  EXPECT_EQ(status.dead_rank(), 1) << "so is one that is gone";
}

TEST(RankStatus, DoesNotCountWhoTookLeaveAsDead) {
  ForkedNode node;
  node.run_child([](ForkedRank& rank) {
    RankStatus status(rank);
    status.take_leave();
  });
  ForkedRank here(node.memory(), 0, 2);
  const RankStatus status(here);
  EXPECT_EQ(status.dead_rank(), -1);
  node.bury();
  EXPECT_EQ(status.dead_rank(), -1);
}

TEST(RankStatus, DoesNotCountWhoHasNotComeYetAsDead) {
  const ForkedNode node;
  ForkedRank here(node.memory(), 0, 2);
  const RankStatus status(here);
  EXPECT_EQ(status.dead_rank(), -1);
  EXPECT_EQ(status.name(1), "rank 1");
}

TEST(RankStatus, RemembersWhenTheLastCallsBegan) {
  on_threads({.ranks = 2}, [](Kit& kit) {
    RankStatus& status = kit.status;
    if (kit.communicator.rank() == 1)
      for (std::uint64_t call = 1; call <= 20; ++call)
        status.begin_call(2, call, static_cast<std::int64_t>(1000 * call));
    kit.barrier();
    EXPECT_EQ(status.began(1, 2, 20), 20000);
    EXPECT_EQ(status.began(1, 2, 19), 19000);
    EXPECT_EQ(status.began(1, 2, 21), std::nullopt) << "not begun";
    EXPECT_EQ(status.began(1, 2, 3), std::nullopt) << "forgotten, not mixed up with a later one";
    EXPECT_EQ(status.began(1, 1, 1), std::nullopt) << "another exchange";
    EXPECT_EQ(status.began(0, 2, 1), std::nullopt) << "another rank";
  });
}

TEST(RankStatus, BlamesThePartnerWithTheFewestCalls) {
  LockstepNode node({0, 0, 0, 0});
  const auto calls = std::array<std::uint64_t, 4>{5, 3, 4, 1};
  for (std::size_t rank = 0; rank < calls.size(); ++rank)
    node.kit(rank).status.begin_call(0, calls[rank], node.team.clock_ns);
  for (std::size_t rank = 0; rank < calls.size(); ++rank) {
    const RankStatus& status = node.kit(rank).status;
    EXPECT_EQ(status.culprit({0, 1, 2}, 0, 5, second_ns), 1);
    EXPECT_EQ(status.culprit({0, 1, 2, 3}, 0, 5, second_ns), 3);
    EXPECT_EQ(status.culprit({0}, 0, 5, second_ns), -1) << "it has come";
  }
}

TEST(RankStatus, BlamesThePartnerThatGivesNoSignOfLifeWhenAllHaveCome) {
  constexpr std::int64_t ten_seconds_ns = 10'000'000'000;
  LockstepNode node({0, 0, 0});
  node.team.clock_ns = 2 * ten_seconds_ns;
  for (std::size_t rank = 0; rank < 3; ++rank)
    node.kit(rank).status.begin_call(0, 7, node.team.clock_ns - (rank == 2 ? ten_seconds_ns : 0));
  EXPECT_EQ(node.kit(0).status.culprit({0, 1, 2}, 0, 7, second_ns), 2);
  EXPECT_EQ(node.kit(1).status.culprit({0, 1}, 0, 7, second_ns), 2) << "its partners wait for it";
  EXPECT_EQ(node.kit(2).status.culprit({0, 1}, 0, 7, second_ns), -1);
}

TEST(RankStatus, BlamesTheRankThatALatePartnerWaitsFor) {
  constexpr std::int64_t ten_seconds_ns = 10'000'000'000;
  LockstepNode node({0, 0, 0});
  node.team.clock_ns = 2 * ten_seconds_ns;
  node.kit(0).status.begin_call(0, 6, node.team.clock_ns);
  node.kit(1).status.begin_call(0, 5, node.team.clock_ns - ten_seconds_ns);
  node.kit(2).status.begin_call(0, 7, node.team.clock_ns);
  EXPECT_EQ(node.kit(2).status.culprit({0}, 0, 7, second_ns), 1);
  node.kit(0).status.expect_silence(true);  // it may wait for the other within work of its own
  node.kit(0).status.beat();
  EXPECT_EQ(node.kit(2).status.culprit({0}, 0, 7, second_ns), 1);
  node.kit(1).status.take_leave();
  EXPECT_EQ(node.kit(2).status.culprit({0}, 0, 7, second_ns), 0)
      << "the late one, where nobody else hangs";
}

TEST(RankStatus, BlamesTheRankThatHangsWhileSilenceWasExpectedOfIt) {
  constexpr std::int64_t ten_seconds_ns = 10'000'000'000;
  LockstepNode node({0, 0, 0});
  node.team.clock_ns = ten_seconds_ns;
  node.kit(1).status.expect_silence(true);  // after a long piece of work, until it looks again
  node.kit(1).status.begin_call(0, 7, node.team.clock_ns);
  node.team.clock_ns += ten_seconds_ns;
  for (const std::size_t rank : {0, 2}) node.kit(rank).status.begin_call(0, 7, node.team.clock_ns);
  EXPECT_EQ(node.kit(0).status.last_sign_ns(1), 0) << "nobody is to miss it";
  EXPECT_EQ(node.kit(2).status.culprit({0, 1}, 0, 7, second_ns), 1) << "but when it holds them up";
}

TEST(RankStatus, ShowsSignsOfLife) {
  on_threads({.ranks = 2}, [](Kit& kit) {
    const std::int64_t before = now_ns();
    kit.barrier();
    kit.status.beat();
    kit.barrier();
    for (int rank = 0; rank < 2; ++rank) {
      EXPECT_GE(kit.status.last_beat_ns(rank), before);
      EXPECT_LE(kit.status.last_beat_ns(rank), now_ns());
    }
    kit.barrier();
  });
}

TEST(RankStatus, LetsOneRankOfANodeClaimTheFailure) {
  on_threads({.ranks = 4, .nodes = {0, 1, 0, 1}}, [](Kit& kit) {
    const auto claims = kit.gather(kit.status.claim_failure() ? 1 : 0);
    EXPECT_EQ(claims[0] + claims[2], 1U);
    EXPECT_EQ(claims[1] + claims[3], 1U);
    EXPECT_FALSE(kit.status.claim_failure());
  });
}

TEST(RankStatus, SeesNothingOfOtherNodes) {
  on_threads({.ranks = 2, .nodes = {0, 1}}, [](Kit& kit) {
    const int other = 1 - kit.communicator.rank();
    kit.status.begin_call(0, 1, now_ns());
    kit.barrier();
    EXPECT_EQ(kit.status.began(other, 0, 1), std::nullopt);
    EXPECT_EQ(kit.status.last_beat_ns(other), 0);
    EXPECT_EQ(kit.status.culprit({other}, 0, 1, second_ns), -1);
    EXPECT_EQ(kit.status.dead_rank(), -1);
    EXPECT_EQ(kit.status.name(other), core::text("rank ", other));
  });
}

}  // namespace
}  // namespace sagips::comm::testing
