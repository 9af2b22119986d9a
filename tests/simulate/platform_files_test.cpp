#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/simulate/platform.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::simulate {
namespace {

using core::ConfigError;
using testing::message_of;
using testing::TemporaryFolder;
using Topology = PlatformConfig::Topology;

constexpr const char* small =
    "topology: one_switch\n"
    "nodes: 2\n"
    "ranks_per_node: 4\n"
    "network: {latency_s: 1e-6, bandwidth: 1e9}\n"
    "loopback: {latency_s: 0, bandwidth: 2e9}\n";

const std::vector<std::string> shipped = {"polaris", "fat_tree", "ethernet", "one_node"};

std::string text_of(const std::string& name) {
  return core::read_file(SAGIPS_SOURCE_DIR "/sagips/simulate/platforms/" + name + ".yaml");
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t place = text.find(what);
  EXPECT_NE(place, std::string::npos) << what;
  return text.replace(place, what.size(), by);
}

// The message without the folder.
std::string fault(const std::string& yaml) {
  const TemporaryFolder folder;
  const std::string path = folder.make("mine.yaml", yaml);
  const std::string message = message_of<ConfigError>([&] { read_platform(path); });
  EXPECT_EQ(message.find(path), 0U) << message;
  return message.substr(path.size() - std::string("mine.yaml").size());
}

// The numbers of the simulations that docs quote; another choice makes those wrong.
TEST(ShippedPlatforms, PolarisHasTheNumbersThatItWasSimulatedWith) {
  const PlatformConfig polaris = read_platform("polaris");
  EXPECT_EQ(polaris.topology, Topology::dragonfly);
  EXPECT_EQ(polaris.node_count(), 560);
  EXPECT_EQ(polaris.most_ranks(), 2240);
  const DragonflyConfig& sizes = polaris.dragonfly;
  EXPECT_EQ((std::vector<std::int64_t>{sizes.groups, sizes.links_between_groups, sizes.chassis,
                                       sizes.links_between_chassis, sizes.routers,
                                       sizes.links_between_routers, sizes.nodes}),
            (std::vector<std::int64_t>{10, 2, 1, 1, 14, 1, 4}));
  EXPECT_EQ(polaris.network.latency_s, 0.5e-6);
  EXPECT_EQ(polaris.network.bandwidth, 50e9);
  EXPECT_EQ(polaris.loopback.latency_s, 1e-6);
  EXPECT_EQ(polaris.loopback.bandwidth, 75e9);
  EXPECT_EQ(polaris.gpu_copy.bandwidth, 0);
  EXPECT_EQ(polaris.memory_bandwidth, 0);
}

TEST(ShippedPlatforms, CanAllBeReadCopiedAndWritten) {
  const TemporaryFolder folder;
  for (const std::string& name : shipped) {
    const PlatformConfig platform = read_platform(name);
    EXPECT_NO_THROW(platform.check(8)) << name;
    EXPECT_FALSE(platform.description.empty()) << name;
    const std::string copy = folder.make(name + ".yaml", text_of(name));
    EXPECT_EQ(core::write_config(read_platform(copy)), core::write_config(platform));
    const auto written = core::ConfigDocument::from_text(core::write_config(platform), name);
    EXPECT_EQ(core::write_config(core::read_config(written, PlatformConfig{})),
              core::write_config(platform));
  }
  EXPECT_EQ(read_platform("one_node").most_ranks(), 8);
  EXPECT_GE(read_platform("fat_tree").most_ranks(), 1000);
  EXPECT_GE(read_platform("ethernet").most_ranks(), 1000);
}

// What is commented out must work when the mark is taken away.
TEST(ShippedPlatforms, OfferCostsThatCanBeSwitchedOn) {
  const TemporaryFolder folder;
  for (const std::string& name : shipped) {
    std::string yaml = replaced(text_of(name), "\n# gpu_copy:", "\ngpu_copy:");
    yaml = replaced(yaml, "\n# memory_bandwidth:", "\nmemory_bandwidth:");
    const PlatformConfig platform = read_platform(folder.make(name + ".yaml", yaml));
    EXPECT_GT(platform.gpu_copy.latency_s, 0) << name;
    EXPECT_GT(platform.gpu_copy.bandwidth, 0) << name;
    EXPECT_GT(platform.memory_bandwidth, 0) << name;
  }
}

TEST(PlatformFile, GivesACluster) {
  const TemporaryFolder folder;
  const PlatformConfig platform = read_platform(folder.make("mine.yaml", small));
  EXPECT_EQ(platform.most_ranks(), 8);
  EXPECT_EQ(platform.network.bandwidth, 1e9);
  EXPECT_EQ(platform.loopback.latency_s, 0);
}

// The file that docs/guides/my_own_cluster.md shows whole.
TEST(PlatformFile, OfTheGuideIsOne) {
  const std::string guide = core::read_file(SAGIPS_SOURCE_DIR "/docs/guides/my_own_cluster.md");
  const std::size_t begin = guide.find("\ndescription:");
  ASSERT_NE(begin, std::string::npos);
  const TemporaryFolder folder;
  const PlatformConfig platform = read_platform(
      folder.make("mine.yaml", guide.substr(begin, guide.find("```", begin) - begin)));
  EXPECT_EQ(platform.most_ranks(), 8);
}

// It has no cables, but a config that is written must read back.
TEST(PlatformFile, OneNodeHasItsLoopbackForANetwork) {
  const PlatformConfig platform = read_platform("one_node");
  EXPECT_EQ(platform.network.latency_s, platform.loopback.latency_s);
  EXPECT_EQ(platform.network.bandwidth, platform.loopback.bandwidth);
}

TEST(PlatformFile, RefusesNamesThatNobodyKnows) {
  EXPECT_EQ(message_of<ConfigError>([] { read_platform("polari"); }),
            "polari: no such platform, did you mean 'polaris'? Name one of these (polaris, "
            "fat_tree, ethernet, one_node) or a YAML file.");
  EXPECT_NE(message_of<ConfigError>([] { read_platform("no/such.yaml"); }).find("no/such.yaml"),
            std::string::npos);
}

TEST(PlatformFile, RefusesKeysThatNobodyKnowsWithTheirLine) {
  EXPECT_EQ(
      fault(std::string(small) + "latency: 1e-6\n").find("mine.yaml:6: unknown key 'latency'"), 0U);
}

TEST(PlatformFile, SaysWhereANumberIsImpossible) {
  EXPECT_EQ(fault(replaced(small, "bandwidth: 1e9", "bandwidth: 0")).find("mine.yaml:4: "), 0U);
  EXPECT_EQ(fault(replaced(small, "latency_s: 0", "latency_s: -1")).find("mine.yaml:5: "), 0U);
  EXPECT_EQ(fault(replaced(small, "nodes: 2", "nodes: 0"))
                .find("mine.yaml:2: nodes is 0 (a cluster has one at least)"),
            0U);
  const std::string dragonfly = replaced(text_of("polaris"), "groups: 10", "groups: 20");
  EXPECT_NE(fault(dragonfly).find(": dragonfly.groups is 20 and dragonfly.routers 14"),
            std::string::npos);
  const std::string tree = replaced(text_of("fat_tree"), "up: [1, 16]\n", "up: [1]\n");
  EXPECT_NE(fault(tree).find(": fat_tree.down has 2 levels, fat_tree.up 1"), std::string::npos);
}

TEST(PlatformFile, LetsNoDefaultStandInForWhatWasForgotten) {
  for (const char* line : {"topology: one_switch\n", "nodes: 2\n", "ranks_per_node: 4\n",
                           "network: {latency_s: 1e-6, bandwidth: 1e9}\n",
                           "loopback: {latency_s: 0, bandwidth: 2e9}\n"})
    EXPECT_NE(fault(replaced(small, line, "")).find("mine.yaml"), std::string::npos) << line;
  EXPECT_NE(fault(replaced(small, "topology: one_switch\n", "")).find("topology is missing"),
            std::string::npos);
  EXPECT_NE(fault(replaced(small, "latency_s: 1e-6, ", "")).find("network.latency_s is missing"),
            std::string::npos);
}

TEST(PlatformFile, RefusesSizesOfAnotherTopology) {
  EXPECT_EQ(fault(std::string(small) + "dragonfly: {groups: 4}\n")
                .find("mine.yaml:6: dragonfly says nothing about this topology"),
            0U);
}

}  // namespace
}  // namespace sagips::simulate
