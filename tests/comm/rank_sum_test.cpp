#include "sagips/comm/rank_sum.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/comm/kit.hpp"

namespace sagips::comm::testing {
namespace {

TEST(RankSum, TellsHowLongARankHasWaitedForOneThatComesLater) {
  constexpr int index = 2;
  on_threads({.ranks = 2}, [](Kit& kit) {
    RankSum sum(kit.site(0), index, "to a sum");
    const bool is_late = kit.communicator.rank() == 1;
    for (std::uint64_t call = 1; call < 4; ++call) {
      while (is_late && !kit.status.began(0, index, call)) std::this_thread::yield();
      double numbers[] = {is_late ? 2.0 : 1.0, 10};
      const double before = sum.waited_s();
      sum(numbers);
      EXPECT_EQ(numbers[0], 3);
      EXPECT_EQ(numbers[1], 20);
      if (is_late)
        EXPECT_EQ(sum.waited_s(), 0);
      else
        EXPECT_GT(sum.waited_s(), before);
    }
  });
}

}  // namespace
}  // namespace sagips::comm::testing
