// SimGrid takes a process whole: CTest runs each of these in one of its own.
#include "sagips/simulate/replay.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/simulate/cluster.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::simulate {
namespace {

ReplayConfig on_polaris(const std::string& exchange, std::int64_t ranks) {
  ReplayConfig config;
  config.exchange = exchange;
  config.ranks = ranks;
  config.epochs = 0;
  config.platform = read_platform("polaris");
  return config;
}

// For a test that needs two of them.
ReplayResult in_a_process(const ReplayConfig& config) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("result.yaml");
  const pid_t child = ::fork();
  if (child == 0) {
    core::write_file(path, core::write_config(replay(config)));
    ::_exit(0);
  }
  int ending = -1;
  ::waitpid(child, &ending, 0);
  EXPECT_EQ(ending, 0);
  return core::read_config(core::ConfigDocument::from_file(path), ReplayResult{});
}

std::vector<std::string> names() {
  std::vector<std::string> names = comm::known_exchanges().names();
  std::erase(names, "shared_node");  // for one node
  return names;
}

class EveryExchange : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Simulated, EveryExchange, ::testing::ValuesIn(names()),
                         [](const auto& name) { return name.param; });

TEST_P(EveryExchange, KeepsItsPromisesAndSendsWhatItsCostSays) {
  const int ranks = GetParam() == "adasum" ? 8 : 10;  // pairs
  ReplayConfig config = on_polaris(GetParam(), ranks);
  config.tensors = {5000, 37};
  config.epochs = 3;
  config.scenario.compute_s = 1e-3;
  config.scenario.jitter = 0.1;
  config.exchanges.served.synchronous = true;  // else answers are sent in any epoch
  const ReplayResult result = replay(config);
  EXPECT_EQ(result.exact, result.promised) << result.largest_error;
  EXPECT_EQ(result.sent_messages, result.messages);
  EXPECT_EQ(result.sent_bytes, result.bytes);
  EXPECT_GT(result.epoch_s, 1e-3 * 0.7);
  EXPECT_EQ(result.epochs_per_s.size(), static_cast<std::size_t>(ranks));
}

TEST(Replay, ServesWithMastersAndSubMasters) {
  for (const std::int64_t groups : {0, 2}) {
    ReplayConfig config = on_polaris("served", 10);
    config.epochs = 30;
    config.scenario.compute_s = 1e-3;
    config.exchanges.served.owners = comm::Served::Owners::master;
    config.exchanges.served.groups = groups;
    const ReplayResult result = in_a_process(config);
    EXPECT_EQ(result.epochs_per_s.size(), 10U);
    EXPECT_GT(result.epoch_s, 1e-3);
  }
}

// One master and nine workers that take turns: an update a step, each a round behind the one before, and
// 32 bytes of a head with each share.
TEST(Replay, CountsWhatCentralWeightsGoThrough) {
  ReplayConfig config = on_polaris("served", 10);
  config.epochs = 30;
  config.alone = false;
  config.scenario.compute_s = 1e-3;
  config.exchanges.served.owners = comm::Served::Owners::master;
  const ReplayResult master = in_a_process(config);
  EXPECT_NEAR(master.steps_per_s, 9 / master.epoch_s, 1e-6 * master.steps_per_s);
  EXPECT_NEAR(master.updates_per_s, master.steps_per_s, 1e-6 * master.steps_per_s);
  EXPECT_NEAR(master.age_mean, 8, 0.3);  // the first ones are younger
  EXPECT_EQ(master.busiest_bytes, 9.0 * 51206 * sizeof(float));
  config.exchanges.served.owners = comm::Served::Owners::all;
  const ReplayResult all = in_a_process(config);
  EXPECT_NEAR(all.steps_per_s, 10 / all.epoch_s, 1e-6 * all.steps_per_s);
  EXPECT_LE(all.updates_per_s, all.steps_per_s) << "an update may hold several steps";
  EXPECT_LT(all.busiest_bytes, master.busiest_bytes / 3);
  config.exchanges.served.synchronous = true;
  const ReplayResult rounds = in_a_process(config);
  EXPECT_NEAR(rounds.updates_per_s, rounds.steps_per_s / 10, 1e-6 * rounds.steps_per_s);
  EXPECT_EQ(rounds.age_mean, 0);
  config.exchange = "ring";
  EXPECT_EQ(in_a_process(config).updates_per_s, 0);
}

// Where each rank has a core: an owner that computes answers when it is asked, a piece of a step later.
TEST(Replay, GivesGradientsThatAreAsYoungWithoutAMaster) {
  using Rule = comm::CentralRuleConfig::Rule;
  ReplayConfig config = on_polaris("served", 16);
  config.tensors = {2000};
  config.epochs = 30;
  config.alone = false;
  config.scenario.compute_s = 1e-2;
  for (const auto& [rule, jitter] : {std::pair(Rule::downpour, 0.0), std::pair(Rule::downpour, 0.2),
                                     std::pair(Rule::easgd, 0.2)}) {
    config.scenario.jitter = jitter;
    config.exchanges.served.rule.rule = rule;
    config.exchanges.served.owners = comm::Served::Owners::master;
    const ReplayResult master = in_a_process(config);
    config.exchanges.served.owners = comm::Served::Owners::all;
    const ReplayResult all = in_a_process(config);
    EXPECT_LE(all.age_mean, 1.5 * master.age_mean) << jitter;
    EXPECT_GE(all.steps_per_s / 16, 0.9 * master.steps_per_s / 15) << "what the waits cost";
  }
}

TEST(Replay, RunsOnOneNodeThroughItsMemory) {
  ReplayConfig config = on_polaris("shared_node", 4);
  config.platform.memory_bandwidth = 50e9;
  const ReplayResult result = replay(config);
  EXPECT_TRUE(result.exact);
  // each rank copies its array, adds three quarters and collects three quarters of it: 10.2 us
  EXPECT_NEAR(result.exchange_s, 4.0 * 51206 * 2.5 / 50e9, 0.5e-6);
}

TEST(Replay, HoldsTheBarOf400Ranks) {
  const ReplayResult result = replay(on_polaris("rabenseifner", 400));
  EXPECT_TRUE(result.exact);
  EXPECT_LE(result.exchange_s, 80e-6);
}

TEST(Replay, HoldsTheBarOf1000Ranks) {
  const ReplayResult result = replay(on_polaris("rabenseifner", 1000));
  EXPECT_TRUE(result.exact);
  EXPECT_LE(result.exchange_s, 90e-6);
}

// communication.md 4.4: 621 us measured with SMPI on the same platform by a program of its own.
TEST(Replay, GivesTheRingTheTimeThatOthersMeasured) {
  EXPECT_NEAR(replay(on_polaris("ring", 100)).exchange_s, 621e-6, 0.02 * 621e-6);
}

TEST(Replay, TakesARingOfBlocksOnManyRanks) {
  ReplayConfig config = on_polaris("ring", 70);
  config.tensors = {1000};
  EXPECT_TRUE(replay(config).exact);
}

TEST(Replay, SumsTensorsThatAreExchangedOneByOne) {
  ReplayConfig config = on_polaris("ring", 8);
  config.tensors = {3000, 40, 2000};
  config.fused = false;
  const ReplayResult result = replay(config);
  EXPECT_TRUE(result.exact);
  EXPECT_EQ(result.messages, 3 * 7);
}

TEST(Replay, TakesOneTensorOfEachLengthForAllOfThem) {
  ReplayConfig config = on_polaris("ring", 70);
  config.tensors = {768, 16384, 16384, 16384, 768};
  config.fused = false;
  const ReplayResult all = in_a_process(config);
  config.each_length_once = true;
  const ReplayResult once = in_a_process(config);
  EXPECT_TRUE(all.exact && once.exact);
  EXPECT_NEAR(once.exchange_s, all.exchange_s, 0.01 * all.exchange_s);
  EXPECT_EQ(once.messages, all.messages);
  EXPECT_EQ(once.bytes, all.bytes);
  EXPECT_EQ(once.sent_messages, all.sent_messages);
  EXPECT_EQ(once.sent_bytes, all.sent_bytes);
}

TEST(Replay, LetsOthersGoOnBesideASlowFollowerOnlyWhereNobodyWaits) {
  ReplayConfig config = on_polaris("rma_arar_arar", 16);
  config.tensors = {1000};
  config.epochs = 20;
  config.scenario.compute_s = 1e-3;
  config.scenario.straggler = 1;
  const ReplayResult result = replay(config);
  for (std::size_t rank = 0; rank < 16; ++rank)
    if (rank == 1)
      EXPECT_NEAR(result.epochs_per_s[rank], 200, 10);
    else
      EXPECT_GE(result.epochs_per_s[rank], 900) << rank;
}

TEST(Replay, HidesAnExchangeBehindTheNextEpoch) {
  ReplayConfig config = on_polaris("rabenseifner", 64);
  config.alone = false;
  config.epochs = 1;
  config.scenario.compute_s = 2e-3;
  config.scenario.overlap = ScenarioConfig::Overlap::one_update_late;
  const ReplayResult result = replay(config);
  EXPECT_LT(result.exposed_s, 0.1 * 26e-6);  // of the exchange by itself
  EXPECT_GE(result.epoch_s, 2e-3);
  EXPECT_TRUE(result.exact);
}

TEST(Replay, ChecksTheLastResultOfAScenario) {
  ReplayConfig config = on_polaris("lanes", 12);
  config.alone = false;
  config.tensors = {1000};
  config.epochs = 3;
  EXPECT_TRUE(replay(config).exact);
}

TEST(Cluster, PassesOnWhatARankThrows) {
  Cluster cluster(read_platform("one_node"), 3);
  EXPECT_THROW(cluster.run([](comm::Communicator& communicator) {
    if (communicator.rank() == 1) throw core::Error("no epoch for me", core::ExitCode::bad_input);
    std::array<std::byte, 8> message;
    comm::Request request = communicator.receive(1, 5, message);
    for (std::int64_t look = 1; !request.ready(); ++look) communicator.pause(look);
  }),
               core::Error);
}

TEST(Cluster, SaysWhenRanksWaitForEver) {
  Cluster cluster(read_platform("one_node"), 2);
  EXPECT_THROW(cluster.run([](comm::Communicator& communicator) {
    std::array<std::byte, 8> message;
    comm::Request request = communicator.receive(1 - communicator.rank(), 5, message);
    for (std::int64_t look = 1; !request.ready(); ++look) communicator.pause(look);
  }),
               core::Error);
}

TEST(Cluster, RefusesMoreRanksThanPlaces) {
  EXPECT_THROW(Cluster(read_platform("one_node"), 100), core::ConfigError);
}

}  // namespace
}  // namespace sagips::simulate
