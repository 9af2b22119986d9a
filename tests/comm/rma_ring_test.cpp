#include "sagips/comm/exchanges/rma_ring.hpp"

#include <gtest/gtest.h>

#include "sagips/comm/clocked_window.hpp"
#include "sagips/core/error.hpp"
#include "tests/comm/hand_driven.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::comm::testing {
namespace {

/// Two ranks, beside each other and apart.
const std::vector<int> pairs[] = {{0, 0}, {0, 1}};

ExchangesConfig with_age(std::int64_t max_age) {
  ExchangesConfig config;
  config.rma_ring.max_age = max_age;
  config.gossip.max_age = max_age;
  config.gossip.form = Gossip::Form::one_sided;
  return config;
}

TEST(RmaRing, DropsAndCountsWhatALaggingRankHasShown) {
  for (const auto& nodes : pairs)
    on_threads({.ranks = 2, .nodes = nodes}, [](Kit& kit) {
      HandDriven driven(kit, "rma_ring", with_age(0));
      const bool lags = kit.communicator.rank() == 1;
      if (lags) {
        EXPECT_EQ(driven.call(1, 8), 8) << "nothing to be seen yet";
      }
      kit.barrier();
      if (!lags) {
        EXPECT_EQ(driven.call(1, 4), 6) << "both in epoch 1";
        for (std::int64_t epoch = 2; epoch <= 4; ++epoch)
          EXPECT_EQ(driven.call(epoch, 4), 4) << "what rank 1 has shown is too old";
      }
      kit.barrier();
      if (lags) {
        EXPECT_EQ(driven.call(2, 8), 6) << "what is ahead is never too old";
      }
      const Freshness fresh = driven.driver.totals().freshness;
      EXPECT_EQ(fresh.used, 1U);
      EXPECT_EQ(fresh.dropped, lags ? 0U : 3U);
      EXPECT_EQ(fresh.missing, lags ? 1U : 0U);
      EXPECT_EQ(fresh.age_maximum, 0);
      EXPECT_EQ(driven.driver.totals().traffic, (Cost{1, 12}));
    });
}

TEST(RmaRing, UsesWhatIsAsOldAsTheLimitAndTellsItsAge) {
  on_threads({.ranks = 2}, [](Kit& kit) {
    HandDriven driven(kit, "rma_ring", with_age(2));
    if (kit.communicator.rank() == 1) driven.call(1, 8);
    kit.barrier();
    if (kit.communicator.rank() == 0) {
      for (std::int64_t epoch = 1; epoch <= 3; ++epoch) EXPECT_EQ(driven.call(epoch, 4), 6);
      EXPECT_EQ(driven.call(4, 4), 4);
      const Freshness fresh = driven.driver.totals().freshness;
      EXPECT_EQ(fresh.used, 3U);
      EXPECT_EQ(fresh.dropped, 1U);
      EXPECT_EQ(fresh.age_sum, 3);
      EXPECT_EQ(fresh.age_maximum, 2);
    }
  });
}

// Ages are epochs of the fastest rank: a slow one that keeps up with reading counts as fresh.
TEST(RmaRing, JudgesASlowRankByWhenItWroteAndNotByItsOwnEpochs) {
  on_threads({.ranks = 2}, [](Kit& kit) {
    HandDriven driven(kit, "rma_ring", with_age(2));
    const bool slow = kit.communicator.rank() == 1;
    std::int64_t epoch = 0;
    for (int round = 1; round <= 5; ++round) {
      if (!slow)
        for (int k = 0; k < 10; ++k) driven.call(++epoch, 4);
      kit.barrier();
      if (slow) {
        EXPECT_EQ(driven.call(++epoch, 8), 6);
      }
      kit.barrier();
      if (!slow && round > 1) {
        EXPECT_EQ(driven.call(++epoch, 4), 6) << "written just now";
      }
      kit.barrier();
    }
  });
}

TEST(RmaRing, GoesOnWithItsClock) {
  on_threads({.ranks = 1}, [](Kit& kit) {
    for (const char* name : {"rma_ring", "gossip"}) {
      HandDriven driven(kit, name, with_age(2));
      const std::string clock = std::string(name) + ".clock";
      driven.exchange().take_state({{clock, {7}}});
      EXPECT_EQ(driven.state().at(clock), std::vector<double>{7});
      EXPECT_EQ(
          sagips::testing::message_of<core::StateError>([&] { driven.exchange().take_state({}); }),
          "the state of the exchange is missing '" + clock + "'.");
    }
  });
}

TEST(Gossip, DropsAndCountsWhatALaggingPeerHasShown) {
  for (const auto& nodes : pairs)
    on_threads({.ranks = 2, .nodes = nodes}, [](Kit& kit) {
      HandDriven driven(kit, "gossip", with_age(0));
      const bool lags = kit.communicator.rank() == 1;
      const auto mix = [&](std::int64_t epoch, float weight) {
        driven.weights.assign(3, weight);
        driven.call(epoch, 1);
        return driven.weights[0];
      };
      if (lags) {
        EXPECT_EQ(mix(1, 8), 8);
      }
      kit.barrier();
      if (!lags) {
        EXPECT_EQ(mix(1, 4), 6);
        EXPECT_EQ(mix(2, 4), 4);
        EXPECT_EQ(driven.driver.totals().freshness.dropped, 1U);
      }
    });
}

TEST(LogicalClock, GoesForwardAndIsNeverBehindTheEpoch) {
  EXPECT_EQ(tick(0, 1), 1U);
  EXPECT_EQ(tick(5, 3), 6U);
  EXPECT_EQ(tick(5, 30), 30U);
  EXPECT_EQ(tick(0, -4), 1U);
}

TEST(LogicalClock, CountsWhatItIsAskedAbout) {
  Freshness fresh;
  EXPECT_FALSE(is_fresh(0, 10, 100, fresh));
  EXPECT_TRUE(is_fresh(12, 10, 0, fresh));
  EXPECT_TRUE(is_fresh(7, 10, 3, fresh));
  EXPECT_FALSE(is_fresh(6, 10, 3, fresh));
  EXPECT_EQ(fresh.missing, 1U);
  EXPECT_EQ(fresh.used, 2U);
  EXPECT_EQ(fresh.dropped, 1U);
  EXPECT_EQ(fresh.age_sum, 3);
}

}  // namespace
}  // namespace sagips::comm::testing
