#include "sagips/core/registry.hpp"

#include <gtest/gtest.h>

#include "tests/core/message_of.hpp"

namespace sagips::core {
namespace {

using sagips::testing::message_of;

TEST(Registry, GivesWhatWasAdded) {
  Registry<int> workloads("workload");
  workloads.add("proxy1d", 1);
  workloads.add("resonance", 2);
  EXPECT_EQ(workloads.get("resonance", ""), 2);
  EXPECT_TRUE(workloads.has("proxy1d"));
  EXPECT_FALSE(workloads.has("proxy2d"));
  EXPECT_EQ(workloads.names(), (std::vector<std::string>{"proxy1d", "resonance"}));
}

TEST(Registry, SuggestsTheNearestNameWithThePlace) {
  Registry<int> workloads("workload");
  workloads.add("resonance", 2);
  const std::string message =
      message_of<ConfigError>([&] { workloads.get("resonanse", "paper.yaml:3"); });
  EXPECT_EQ(message, "paper.yaml:3: unknown workload 'resonanse', did you mean 'resonance'?");
}

TEST(Registry, SaysWhatANameOfOthersMeansHere) {
  Registry<int> exchanges("exchange");
  exchanges.add("all_reduce", 1);
  exchanges.add_foreign_name("horovod", "all_reduce");
  EXPECT_FALSE(exchanges.has("horovod"));
  EXPECT_EQ(message_of<ConfigError>([&] { exchanges.get("Horovod", "exchange"); }),
            "exchange: unknown exchange 'Horovod', did you mean exchange=all_reduce?");
}

TEST(Registry, RefusesANameTwice) {
  Registry<int> workloads("workload");
  workloads.add("proxy1d", 1);
  EXPECT_THROW(workloads.add("proxy1d", 2), Error);
  EXPECT_EQ(workloads.get("proxy1d", ""), 1);
}

}  // namespace
}  // namespace sagips::core
