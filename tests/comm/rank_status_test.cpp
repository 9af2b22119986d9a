#include "sagips/comm/board.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>

#include "sagips/core/text.hpp"
#include "tests/comm/forked_node.hpp"
#include "tests/comm/lockstep.hpp"

namespace sagips::comm::testing {
namespace {

TEST(Board, FindsARankWhoseProcessWasKilled) {
  ForkedNode node;
  node.run_child([](ForkedRank& rank) {
    const Board board(rank);
    raise(SIGKILL);
  });
  ForkedRank here(node.memory(), 0, 2);
  const Board board(here);
  EXPECT_EQ(board.dead_rank(), 1) << "a zombie is dead";
  EXPECT_EQ(board.culprit({0, 1}, 0, 1), 1);
  EXPECT_EQ(board.name(1), core::text("rank 1 (process ", node.child(), ")"));
  node.bury();
  EXPECT_EQ(board.dead_rank(), 1) << "so is one that is gone";
}

TEST(Board, DoesNotCountWhoTookLeaveAsDead) {
  ForkedNode node;
  node.run_child([](ForkedRank& rank) {
    Board board(rank);
    board.take_leave();
  });
  ForkedRank here(node.memory(), 0, 2);
  const Board board(here);
  EXPECT_EQ(board.dead_rank(), -1);
  node.bury();
  EXPECT_EQ(board.dead_rank(), -1);
}

TEST(Board, DoesNotCountWhoHasNotComeYetAsDead) {
  const ForkedNode node;
  ForkedRank here(node.memory(), 0, 2);
  const Board board(here);
  EXPECT_EQ(board.dead_rank(), -1);
  EXPECT_EQ(board.name(1), "rank 1");
}

TEST(Board, RemembersWhenTheLastCallsBegan) {
  on_threads({.ranks = 2}, [](Kit& kit) {
    Board& board = kit.board;
    if (kit.communicator.rank() == 1)
      for (std::uint64_t call = 1; call <= 20; ++call)
        board.begin_call(2, call, static_cast<std::int64_t>(1000 * call));
    kit.barrier();
    EXPECT_EQ(board.began(1, 2, 20), 20000);
    EXPECT_EQ(board.began(1, 2, 19), 19000);
    EXPECT_EQ(board.began(1, 2, 21), std::nullopt) << "not begun";
    EXPECT_EQ(board.began(1, 2, 3), std::nullopt) << "forgotten, not mixed up with a later one";
    EXPECT_EQ(board.began(1, 1, 1), std::nullopt) << "another exchange";
    EXPECT_EQ(board.began(0, 2, 1), std::nullopt) << "another rank";
  });
}

TEST(Board, BlamesThePartnerWithTheFewestCalls) {
  LockstepNode node({0, 0, 0, 0});
  const auto calls = std::array<std::uint64_t, 4>{5, 3, 4, 1};
  for (std::size_t rank = 0; rank < calls.size(); ++rank)
    node.kit(rank).board.begin_call(0, calls[rank], node.team.clock_ns);
  for (std::size_t rank = 0; rank < calls.size(); ++rank) {
    const Board& board = node.kit(rank).board;
    EXPECT_EQ(board.culprit({0, 1, 2}, 0, 5), 1);
    EXPECT_EQ(board.culprit({0, 1, 2, 3}, 0, 5), 3);
    EXPECT_EQ(board.culprit({0}, 0, 5), -1) << "it has come";
  }
}

TEST(Board, BlamesThePartnerThatGivesNoSignOfLifeWhenAllHaveCome) {
  constexpr std::int64_t ten_seconds_ns = 10'000'000'000;
  LockstepNode node({0, 0, 0});
  node.team.clock_ns = 2 * ten_seconds_ns;
  for (std::size_t rank = 0; rank < 3; ++rank)
    node.kit(rank).board.begin_call(0, 7, node.team.clock_ns - (rank == 2 ? ten_seconds_ns : 0));
  EXPECT_EQ(node.kit(0).board.culprit({0, 1, 2}, 0, 7), 2);
  EXPECT_EQ(node.kit(1).board.culprit({0, 1}, 0, 7), -1);
}

TEST(Board, ShowsSignsOfLife) {
  on_threads({.ranks = 2}, [](Kit& kit) {
    const std::int64_t before = now_ns();
    kit.barrier();
    kit.board.beat();
    kit.barrier();
    for (int rank = 0; rank < 2; ++rank) {
      EXPECT_GE(kit.board.last_beat_ns(rank), before);
      EXPECT_LE(kit.board.last_beat_ns(rank), now_ns());
    }
    kit.barrier();
  });
}

TEST(Board, LetsOneRankOfANodeClaimTheFailure) {
  on_threads({.ranks = 4, .nodes = {0, 1, 0, 1}}, [](Kit& kit) {
    const auto claims = kit.gather(kit.board.claim_failure() ? 1 : 0);
    EXPECT_EQ(claims[0] + claims[2], 1U);
    EXPECT_EQ(claims[1] + claims[3], 1U);
    EXPECT_FALSE(kit.board.claim_failure());
  });
}

TEST(Board, SeesNothingOfOtherNodes) {
  on_threads({.ranks = 2, .nodes = {0, 1}}, [](Kit& kit) {
    const int other = 1 - kit.communicator.rank();
    kit.board.begin_call(0, 1, now_ns());
    kit.barrier();
    EXPECT_EQ(kit.board.began(other, 0, 1), std::nullopt);
    EXPECT_EQ(kit.board.last_beat_ns(other), 0);
    EXPECT_EQ(kit.board.culprit({other}, 0, 1), -1);
    EXPECT_EQ(kit.board.dead_rank(), -1);
    EXPECT_EQ(kit.board.name(other), core::text("rank ", other));
  });
}

}  // namespace
}  // namespace sagips::comm::testing
