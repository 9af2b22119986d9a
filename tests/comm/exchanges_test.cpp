#include <gtest/gtest.h>

#include <cstdlib>

#include "sagips/core/error.hpp"
#include "tests/comm/conformance.hpp"

namespace sagips::comm::testing {
namespace {

constexpr std::size_t sizes[] = {0, 1, 3, 1000};

class EveryExchange : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Known, EveryExchange, ::testing::ValuesIn(exchange_names()),
                         [](const auto& name) { return name.param; });

// The long tests (make test-long) add the paper's size.
TEST_P(EveryExchange, EqualsTheSerialModelOnOneToSixteenRanks) {
  const bool is_long = std::getenv("SAGIPS_LONG_TESTS") != nullptr;
  for (int ranks = 1; ranks <= 16; ++ranks)
    on_threads({.ranks = ranks}, [&](Kit& kit) {
      for (const std::size_t floats : sizes)
        check_values(kit, GetParam(), busy_config(ranks), floats);
      if (is_long) check_values(kit, GetParam(), busy_config(ranks), 51206);
    });
}

TEST_P(EveryExchange, CarriesTheGradientsOfThePaper) {
  on_threads({.ranks = 4}, [&](Kit& kit) {
    check_values(kit, GetParam(), busy_config(4), 51206);
    check_one_sided(kit, GetParam(), busy_config(4), 51206);
  });
}

TEST_P(EveryExchange, WorksOnUnevenNodes) {
  if (GetParam() == "shared_node") GTEST_SKIP() << "shared_node is for one node";
  ExchangesConfig config = busy_config(7);
  config.grouped.group_size = 0;
  on_threads({.ranks = 7, .nodes = {0, 0, 0, 1, 2, 2, 2}}, [&](Kit& kit) {
    check_values(kit, GetParam(), config, 1000);
    check_one_sided(kit, GetParam(), config, 1000);
  });
}

TEST_P(EveryExchange, GoesOnWhereItWasSaved) {
  for (const int ranks : {1, 4, 5})
    on_threads({.ranks = ranks},
               [&](Kit& kit) { check_resumes(kit, GetParam(), busy_config(ranks)); });
}

TEST_P(EveryExchange, DoesNotCareWhenMessagesArrive) {
  const int ranks = works_on(GetParam(), 5) ? 5 : 4;
  const auto bits = [&](double delay_us) {
    std::vector<std::uint64_t> all;
    on_threads({.ranks = ranks, .delay_seed = 3, .maximum_delay_us = delay_us}, [&](Kit& kit) {
      const auto gathered = kit.gather(fingerprint(kit, GetParam(), busy_config(ranks)));
      if (kit.communicator.rank() == 0) all = gathered;
    });
    return all;
  };
  bool repeats = true;
  on_threads({.ranks = 1}, [&](Kit& kit) {
    repeats = make_exchange(GetParam(), busy_config(1), kit.site(1))->promise().repeats;
  });
  const auto prompt = bits(0), late = bits(300);
  if (repeats) {
    EXPECT_EQ(prompt, late);
  }
}

TEST_P(EveryExchange, OneSidedOnesNeverShowHalfAnArray) {
  for (const int ranks : {2, 3, 6})
    on_threads({.ranks = ranks},
               [&](Kit& kit) { check_one_sided(kit, GetParam(), busy_config(ranks), 4099); });
}

// The variants that no name stands for.
struct Variant {
  const char* what;
  const char* name;
  void (*change)(ExchangesConfig&);
};

const Variant variants[] = {
    {"OuterOnly", "arar_arar",
     [](ExchangesConfig& c) { c.grouped.rule = Grouped::Rule::outer_only; }},
    {"NoBroadcast", "arar_arar",
     [](ExchangesConfig& c) { c.grouped.rule = Grouped::Rule::inner_then_outer; }},
    {"DrawnLeader", "arar_arar",
     [](ExchangesConfig& c) { c.grouped.leader = Grouped::Leader::drawn; }},
    {"DrawnLeaderOuterOnly", "arar_arar",
     [](ExchangesConfig& c) {
       c.grouped.leader = Grouped::Leader::drawn;
       c.grouped.rule = Grouped::Rule::outer_only;
     }},
    {"OtherParts", "grouped",
     [](ExchangesConfig& c) {
       c.grouped.inner = "rabenseifner";
       c.grouped.outer = "double_tree";
     }},
    {"SharedNodeInside", "grouped", [](ExchangesConfig& c) { c.grouped.inner = "shared_node"; }},
    {"AveragedNone", "averaged", [](ExchangesConfig& c) { c.averaged.inner = "none"; }},
    {"AveragedGossip", "averaged",
     [](ExchangesConfig& c) {
       c.averaged.inner = "gossip";
       c.averaged.mean = "all_reduce";
     }},
    {"OneSidedGossip", "gossip",
     [](ExchangesConfig& c) { c.gossip.form = Gossip::Form::one_sided; }},
    {"CompressedOuter", "grouped",
     [](ExchangesConfig& c) {
       c.grouped.inner = "shared_node";
       c.grouped.outer = "compressed";
     }},
    {"AveragedCompressed", "averaged", [](ExchangesConfig& c) { c.averaged.inner = "compressed"; }},
    {"OneSidedOuter", "grouped",
     [](ExchangesConfig& c) {
       c.grouped.inner = c.grouped.outer = "rma_ring";
       c.grouped.rule = Grouped::Rule::inner_then_outer;
     }},
};

class EveryVariant : public ::testing::TestWithParam<Variant> {};

INSTANTIATE_TEST_SUITE_P(Known, EveryVariant, ::testing::ValuesIn(variants),
                         [](const auto& variant) { return std::string(variant.param.what); });

TEST_P(EveryVariant, EqualsTheSerialModel) {
  for (const int ranks : {1, 2, 3, 4, 7, 8})
    on_threads({.ranks = ranks}, [&](Kit& kit) {
      ExchangesConfig config = busy_config(ranks);
      GetParam().change(config);
      check_values(kit, GetParam().name, config, 1000);
      check_resumes(kit, GetParam().name, config);
      check_one_sided(kit, GetParam().name, config, 1000);
    });
}

}  // namespace
}  // namespace sagips::comm::testing
