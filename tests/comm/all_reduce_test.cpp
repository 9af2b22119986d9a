#include "sagips/comm/exchanges/all_reduce.hpp"

#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "tests/comm/hand_driven.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::comm::testing {
namespace {

ExchangesConfig with_passes(std::int64_t passes) {
  ExchangesConfig config;
  config.all_reduce.backward_passes = passes;
  return config;
}

TEST(AllReduce, AveragesOverPassesAndRanks) {
  for (const int ranks : {1, 2, 4})
    on_threads({.ranks = ranks}, [&](Kit& kit) {
      HandDriven driven(kit, "all_reduce", with_passes(3));
      const auto rank = static_cast<float>(kit.communicator.rank());
      const float mean_rank = 0.5F * static_cast<float>(ranks - 1);
      for (const std::int64_t first : {1, 4}) {  // two rounds: the collection starts anew
        const auto offset = static_cast<float>(first);
        EXPECT_EQ(driven.call(first, 3 * rank + offset), 3 * rank + offset) << "not touched";
        EXPECT_FALSE(driven.exchange().updates({first}));
        driven.call(first + 1, 6 * rank + offset);
        EXPECT_FALSE(driven.exchange().updates({first + 1}));
        EXPECT_NEAR(driven.call(first + 2, offset), 3 * mean_rank + offset, 1e-5);
        EXPECT_TRUE(driven.exchange().updates({first + 2}));
      }
      EXPECT_EQ(driven.driver.totals().traffic, (Cost{2, 24}));
      EXPECT_EQ(driven.exchange().period(), 3);
    });
}

TEST(AllReduce, GoesOnInTheMiddleOfItsPasses) {
  on_threads({.ranks = 2}, [](Kit& kit) {
    const auto rank = static_cast<float>(kit.communicator.rank());
    State middle;
    {
      HandDriven first(kit, "all_reduce", with_passes(3));
      first.call(1, 1 + rank);
      first.call(2, 10 + rank);
      middle = first.state();
    }
    HandDriven second(kit, "all_reduce", with_passes(3));
    second.exchange().take_state(middle);
    EXPECT_EQ(second.call(3, 100.5F), (11.0F + 1.0F + 100.5F) / 3.0F);
  });
}

TEST(AllReduce, RefusesAStateThatIsNotItsOwn) {
  on_threads({.ranks = 1}, [](Kit& kit) {
    HandDriven driven(kit, "all_reduce", with_passes(3));
    EXPECT_NE(sagips::testing::message_of<core::StateError>([&] {
                driven.exchange().take_state({});
              }).find("all_reduce.collected"),
              std::string::npos);
  });
}

}  // namespace
}  // namespace sagips::comm::testing
