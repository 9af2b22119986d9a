#include "sagips/simulate/platform.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::simulate {
namespace {

using core::ConfigError;
using testing::message_of;
using Topology = PlatformConfig::Topology;

constexpr LinkConfig cable{1e-6, 1e9};

PlatformConfig platform_of(Topology topology) {
  PlatformConfig platform;
  platform.topology = topology;
  platform.network = platform.loopback = cable;
  if (topology == Topology::one_switch) platform.nodes = 3;
  return platform;
}

std::string fault(const PlatformConfig& platform, std::int64_t ranks = 1) {
  return message_of<ConfigError>([&] { platform.check(ranks); });
}

TEST(Platform, CountsItsNodes) {
  PlatformConfig platform = platform_of(Topology::dragonfly);
  EXPECT_EQ(platform.node_count(), 560);
  EXPECT_EQ(platform.most_ranks(), 2240);
  platform.dragonfly.chassis = 3;
  EXPECT_EQ(platform.node_count(), 1680);
  EXPECT_EQ(platform_of(Topology::fat_tree).node_count(), 256);
  EXPECT_EQ(platform_of(Topology::one_switch).node_count(), 3);
  EXPECT_EQ(platform_of(Topology::one_node).node_count(), 1);
}

TEST(Platform, HasPlaceForAsManyRanksAsItSays) {
  const PlatformConfig platform = platform_of(Topology::one_switch);
  EXPECT_NO_THROW(platform.check(1));
  EXPECT_NO_THROW(platform.check(12));
  EXPECT_EQ(fault(platform, 13),
            "platform: 13 ranks have no place (3 nodes of 4 hold 12). Take fewer ranks, or a "
            "platform file with more nodes.");
  EXPECT_NE(fault(platform, 0).find("0 ranks"), std::string::npos);
}

TEST(Platform, TakesNoLatencyButNoCableWithoutBandwidth) {
  for (const Topology topology :
       {Topology::dragonfly, Topology::fat_tree, Topology::one_switch, Topology::one_node}) {
    PlatformConfig platform = platform_of(topology);
    platform.network.latency_s = platform.loopback.latency_s = 0;
    EXPECT_NO_THROW(platform.check(1));
    platform.loopback.bandwidth = 0;
    EXPECT_EQ(fault(platform),
              "platform: loopback.bandwidth is 0 (a message would never arrive). Set bytes/s above "
              "0.");
    platform.loopback.bandwidth = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(fault(platform).find("loopback.bandwidth"), std::string::npos);
  }
  PlatformConfig platform = platform_of(Topology::fat_tree);
  platform.network.bandwidth = 0;
  EXPECT_NE(fault(platform).find("network.bandwidth is 0"), std::string::npos);
  platform.network = {-1e-6, 1e9};
  EXPECT_NE(fault(platform).find("network.latency_s is -1e-06"), std::string::npos);
  platform = platform_of(Topology::one_node);
  platform.network = {};
  EXPECT_NO_THROW(platform.check(4));
}

TEST(Platform, RefusesMoreGroupsThanRouters) {
  PlatformConfig platform = platform_of(Topology::dragonfly);
  platform.dragonfly.groups = 14;
  EXPECT_NO_THROW(platform.check(1));
  platform.dragonfly.groups = 15;
  EXPECT_NE(fault(platform).find("dragonfly.groups is 15 and dragonfly.routers 14"),
            std::string::npos);
}

TEST(Platform, RefusesTreesWhoseListsDiffer) {
  PlatformConfig platform = platform_of(Topology::fat_tree);
  platform.fat_tree.up = {1};
  EXPECT_EQ(fault(platform),
            "platform: fat_tree.down has 2 levels, fat_tree.up 1 and fat_tree.cables 2. Make them "
            "equally long.");
  platform.fat_tree = {{}, {}, {}};
  EXPECT_NE(fault(platform).find("fat_tree.down is empty"), std::string::npos);
  platform.fat_tree = {{4, 0}, {1, 1}, {1, 1}};
  EXPECT_NE(fault(platform).find("fat_tree.down is 0"), std::string::npos);
}

TEST(Platform, RefusesSizesThatNoComputerHolds) {
  PlatformConfig platform = platform_of(Topology::fat_tree);
  platform.fat_tree.down = {1000000, 1000000, 1000000, 1000000};
  platform.fat_tree.up = platform.fat_tree.cables = {1, 1, 1, 1};
  EXPECT_NE(fault(platform).find("cables"), std::string::npos);
  // few nodes, many parents
  platform.fat_tree = {{4, 4}, {1000, 1000}, {1, 1}};
  EXPECT_NE(fault(platform).find("cables"), std::string::npos);
  platform = platform_of(Topology::dragonfly);
  platform.dragonfly.groups = platform.dragonfly.routers = 1000;
  EXPECT_NE(fault(platform).find("cables"), std::string::npos);
  platform = platform_of(Topology::one_switch);
  platform.nodes = 1000001;
  EXPECT_NE(fault(platform).find("cables"), std::string::npos);
}

TEST(Platform, RefusesCountsBelowOneAndCopiesWithHalfOfTheirNumbers) {
  PlatformConfig platform = platform_of(Topology::one_switch);
  platform.nodes = 0;
  EXPECT_NE(fault(platform).find("nodes is 0"), std::string::npos);
  platform.nodes = 1;
  platform.ranks_per_node = 0;
  EXPECT_NE(fault(platform).find("ranks_per_node is 0"), std::string::npos);
  platform.ranks_per_node = 1;
  platform.gpu_copy.latency_s = 1e-6;
  EXPECT_NE(fault(platform).find("gpu_copy.bandwidth is 0"), std::string::npos);
  platform.gpu_copy.bandwidth = 1e9;
  EXPECT_NO_THROW(platform.check(1));
  platform.memory_bandwidth = -1;
  EXPECT_NE(fault(platform).find("memory_bandwidth"), std::string::npos);
}

}  // namespace
}  // namespace sagips::simulate
