// Parts of a job: numbers, nodes, and that their messages do not meet. Runs over threads here and over
// processes in comm_mpi_test.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "tests/comm/thread_communicator.hpp"

namespace sagips::comm {
namespace {

std::vector<int> everybody(Communicator& communicator, int mine) {
  std::vector<int> all(static_cast<std::size_t>(communicator.size()));
  communicator.all_gather(std::as_bytes(std::span(&mine, 1)),
                          std::as_writable_bytes(std::span(all)));
  return all;
}

TEST(Split, NumbersRanksAndNodesOfEachPartFromZero) {
  run_ranks({.ranks = 5, .nodes = {0, 0, 1, 1, 1}}, [](Communicator& all) {
    const int colour = all.rank() < 2 ? 7 : 3;
    const auto part = all.split(colour);
    EXPECT_EQ(part->size(), all.rank() < 2 ? 2 : 3);
    EXPECT_EQ(part->rank(), all.rank() < 2 ? all.rank() : all.rank() - 2);
    EXPECT_EQ(part->nodes(), std::vector<int>(static_cast<std::size_t>(part->size()), 0));
    std::vector<int> expected(static_cast<std::size_t>(part->size()));
    std::iota(expected.begin(), expected.end(), all.rank() < 2 ? 0 : 2);
    EXPECT_EQ(everybody(*part, all.rank()), expected);
  });
}

TEST(Split, KeepsTheMessagesOfPartsApart) {
  run_ranks({.ranks = 4}, [](Communicator& all) {
    const auto part = all.split(all.rank() % 2);
    const auto again = part->split(0);  // the same ranks, but not the same messages
    const int to = 1 - part->rank();
    const int sent[2] = {10 + all.rank(), 20 + all.rank()};
    int here = 0, inside = 0;
    Request first = part->send(to, 1, std::as_bytes(std::span(sent, 1)));
    Request second = again->send(to, 1, std::as_bytes(std::span(sent + 1, 1)));
    Request late = again->receive(to, 1, std::as_writable_bytes(std::span(&inside, 1)));
    Request early = part->receive(to, 1, std::as_writable_bytes(std::span(&here, 1)));
    for (Request* request : {&late, &early, &first, &second})
      while (!request->ready()) std::this_thread::yield();
    const int other = (all.rank() + 2) % 4;
    EXPECT_EQ(here, 10 + other);
    EXPECT_EQ(inside, 20 + other);
  });
}

TEST(Split, LetsAPartGoOnWhenAnotherHasFailedAndAgree) {
  run_ranks({.ranks = 4}, [](Communicator& all) {
    const auto part = all.split(all.rank() / 2);
    for (int member = 0; member < 2; ++member) {
      Ranks ranks(part->split(0));
      bool failed = false;
      try {
        if (member == 0 && all.rank() == 1) {
          ranks.status().claim_failure();
          throw CommError("on fire");
        }
        std::vector<std::byte> bytes(static_cast<std::size_t>(ranks.is_first() ? 3 : 0));
        if (member == 0 && all.rank() == 0) {  // waits for what never comes
          int nothing = 0;
          Request never =
              ranks.communicator().receive(1, 1, std::as_writable_bytes(std::span(&nothing, 1)));
          ranks.timeout().wait(never, {.partners = {1}, .what = "here"});
        }
        ranks.broadcast(bytes);
      } catch (const CommError&) {
        failed = true;
      }
      EXPECT_EQ(failed, member == 0 && all.rank() < 2) << all.rank();
      const auto together = everybody(*part, failed ? 1 : 0);
      EXPECT_EQ(together[0], together[1]);
    }
  });
}

}  // namespace
}  // namespace sagips::comm
