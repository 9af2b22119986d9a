#include "sagips/comm/exchanges/averaged.hpp"

#include <gtest/gtest.h>

#include "tests/comm/hand_driven.hpp"

namespace sagips::comm::testing {
namespace {

TEST(Averaged, BringsWeightsTogetherEverySoOften) {
  for (const char* mean : {"all_reduce", "rabenseifner"})
    on_threads({.ranks = 4}, [&](Kit& kit) {
      ExchangesConfig config;
      config.averaged.inner = "all_reduce";
      config.averaged.mean = mean;
      config.averaged.every = 2;
      HandDriven driven(kit, "averaged", config);
      const auto rank = static_cast<float>(kit.communicator.rank());
      for (std::int64_t epoch = 1; epoch <= 6; ++epoch) {
        driven.weights.assign(3, rank + static_cast<float>(epoch));
        driven.call(epoch, 1);
        const float wanted = (epoch % 2 == 0 ? 1.5F : rank) + static_cast<float>(epoch);
        EXPECT_EQ(driven.weights, std::vector<float>(3, wanted)) << mean << ", epoch " << epoch;
      }
      EXPECT_EQ(driven.exchange().period(), 2);
    });
}

}  // namespace
}  // namespace sagips::comm::testing
