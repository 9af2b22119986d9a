// Which exchanges can be made of which settings, and what is said of the others.
#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "tests/comm/kit.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::comm::testing {
namespace {

using sagips::testing::message_of;

/// What every rank is told that makes this exchange.
void expect_refusal(const ThreadTeamConfig& team, const std::string& name,
                    const ExchangesConfig& config, const std::string& beginning) {
  on_threads(team, [&](Kit& kit) {
    const std::string message =
        message_of<core::ConfigError>([&] { make_exchange(name, config, kit.site(10)); });
    EXPECT_EQ(message.rfind(beginning, 0), 0U) << message;
  });
}

ExchangesConfig with_grouped(const std::string& inner, const std::string& outer,
                             std::int64_t group_size) {
  ExchangesConfig config;
  config.grouped.inner = inner;
  config.grouped.outer = outer;
  config.grouped.group_size = group_size;
  return config;
}

TEST(MakeExchange, SuggestsTheNearestNameForAnUnknownOne) {
  expect_refusal({.ranks = 1}, "rign", {},
                 "exchange: unknown exchange 'rign', did you mean 'ring'?");
  expect_refusal({.ranks = 1}, "grouped", with_grouped("chunked_rin", "ring", 1),
                 "exchanges.grouped: unknown exchange 'chunked_rin', did you mean "
                 "'chunked_ring'?");
  ExchangesConfig config;
  config.averaged.inner = "rinq";
  expect_refusal({.ranks = 1}, "averaged", config,
                 "exchanges.averaged.inner: unknown exchange 'rinq', did you mean 'ring'?");
  config.served.inner = "rinq";
  expect_refusal({.ranks = 2}, "served", config,
                 "exchanges.served.inner: unknown exchange 'rinq', did you mean 'ring'?");
}

TEST(MakeExchange, RefusesGroupsLargerThanTheJob) {
  for (const char* name : {"grouped", "arar_arar", "rma_arar_arar"})
    expect_refusal({.ranks = 2}, name, with_grouped("ring", "ring", 3),
                   "exchanges.grouped.group_size: groups of 3 ranks cannot be made of 2 ranks.");
}

TEST(MakeExchange, RefusesACompositionAsAPart) {
  for (const char* part : {"grouped", "averaged", "auto", "arar_arar"}) {
    expect_refusal({.ranks = 2}, "grouped", with_grouped(part, "ring", 1),
                   std::string("exchanges.grouped: exchange '") + part + "'");
    expect_refusal({.ranks = 2}, "grouped", with_grouped("ring", part, 1),
                   std::string("exchanges.grouped: exchange '") + part + "'");
  }
}

// It moves weights after the update, and groups exchange gradients: nothing would happen.
TEST(MakeExchange, RefusesGossipAsAPartOfGroups) {
  expect_refusal({.ranks = 2}, "grouped", with_grouped("gossip", "ring", 2),
                 "exchanges.grouped: exchange 'gossip'");
  expect_refusal({.ranks = 2}, "grouped", with_grouped("ring", "gossip", 1),
                 "exchanges.grouped: exchange 'gossip'");
}

TEST(MakeExchange, RefusesAMeanOfWeightsThatIsNotExact) {
  ExchangesConfig config;
  config.averaged.inner = "ring";
  for (const char* mean : {"rma_ring", "none", "gossip"}) {
    config.averaged.mean = mean;
    expect_refusal({.ranks = 2}, "averaged", config, "exchanges.averaged.mean: ");
  }
}

TEST(MakeExchange, RefusesToRoundWeights) {
  ExchangesConfig config;
  config.averaged.mean = "compressed";
  expect_refusal({.ranks = 2}, "averaged", config,
                 "exchanges.averaged.mean: 'compressed' does not send all of the weights.");
}

TEST(MakeExchange, RefusesPairsOfAnOddNumberOfRanks) {
  for (const int ranks : {3, 6})
    expect_refusal({.ranks = ranks}, "adasum", {},
                   "exchange: adasum combines ranks in pairs, and " + std::to_string(ranks) +
                       " are no power of two.");
  expect_refusal({.ranks = 4}, "grouped", with_grouped("adasum", "ring", 2),
                 "exchanges.grouped: exchange 'adasum'");
}

TEST(MakeExchange, RefusesToAverageWhatAveragesOrMeasures) {
  ExchangesConfig config;
  for (const char* inner : {"averaged", "auto"}) {
    config.averaged.inner = inner;
    expect_refusal({.ranks = 1}, "averaged", config, "exchanges.averaged.inner: '");
  }
}

TEST(MakeExchange, RefusesSharedMemoryBetweenNodes) {
  expect_refusal({.ranks = 2, .nodes = {0, 1}}, "shared_node", {},
                 "exchange: shared_node needs all its ranks on one node");
  on_threads({.ranks = 4, .nodes = {0, 0, 1, 1}}, [](Kit& kit) {
    EXPECT_NO_THROW(make_exchange("grouped", with_grouped("shared_node", "ring", 0), kit.site(10)));
  });
}

TEST(MakeExchange, RefusesTheLibrarysAllReduceWithinAGroup) {
  expect_refusal({.ranks = 4}, "grouped", with_grouped("all_reduce", "ring", 2),
                 "exchange: all_reduce works over all 4 ranks, not within a group of 2.");
}

TEST(KnownExchanges, AreDescribed) {
  const auto known = known_exchanges();
  EXPECT_GE(known.names().size(), 15U);
  for (const auto& name : known.names()) {
    EXPECT_FALSE(known.get(name, "").summary.empty()) << name;
    EXPECT_FALSE(known.get(name, "").composition.empty()) << name;
    on_threads({.ranks = 4}, [&](Kit& kit) {
      EXPECT_FALSE(make_exchange(name, {}, kit.site(10))->description().empty()) << name;
    });
  }
}

}  // namespace
}  // namespace sagips::comm::testing
