#include "sagips/comm/exchanges/all_reduce.hpp"

#include <gtest/gtest.h>

#include "tests/comm/hand_driven.hpp"

namespace sagips::comm::testing {
namespace {

TEST(AllReduce, AveragesOverRanksAndCountsOneCall) {
  for (const int ranks : {1, 2, 4})
    on_threads({.ranks = ranks}, [&](Kit& kit) {
      HandDriven driven(kit, "all_reduce", {});
      const auto rank = static_cast<float>(kit.communicator.rank());
      const float mean_rank = 0.5F * static_cast<float>(ranks - 1);
      for (const std::int64_t epoch : {1, 2})
        EXPECT_EQ(driven.call(epoch, 3 * rank + 1), 3 * mean_rank + 1);
      EXPECT_EQ(driven.driver.totals().traffic, ranks > 1 ? (Cost{2, 24}) : Cost{});
    });
}

}  // namespace
}  // namespace sagips::comm::testing
