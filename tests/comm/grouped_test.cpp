#include "sagips/comm/exchanges/grouped.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/comm/hand_driven.hpp"

namespace sagips::comm::testing {
namespace {

ExchangesConfig groups_of_three(Grouped::Rule rule) {
  ExchangesConfig config;
  config.grouped.group_size = 3;
  config.grouped.outer_every = 2;
  config.grouped.rule = rule;
  return config;
}

/// What each of four ranks, in groups of 3 and 1, ends with; they bring 1, 2, 6 and 11.
std::vector<float> result_of(const ExchangesConfig& config, std::int64_t epoch) {
  std::vector<float> results(4);
  on_threads({.ranks = 4}, [&](Kit& kit) {
    const auto rank = static_cast<std::size_t>(kit.communicator.rank());
    HandDriven driven(kit, "grouped", config);
    results[rank] = driven.call(epoch, std::array{1.0F, 2.0F, 6.0F, 11.0F}[rank]);
  });
  return results;
}

void expect_near(const std::vector<float>& found, const std::vector<float>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], wanted[k], 1e-5) << k;
}

TEST(Grouped, AveragesWithinGroupsMostOfTheTime) {
  for (const auto rule : {Grouped::Rule::inner_then_outer_then_broadcast,
                          Grouped::Rule::inner_then_outer, Grouped::Rule::outer_only})
    expect_near(result_of(groups_of_three(rule), 1), {3, 3, 3, 11});
}

TEST(Grouped, WeighsUnevenGroupsByTheirSize) {
  expect_near(result_of(groups_of_three(Grouped::Rule::inner_then_outer_then_broadcast), 2),
              {5, 5, 5, 5});
  expect_near(result_of(groups_of_three(Grouped::Rule::inner_then_outer), 2), {5, 3, 3, 5});
}

TEST(Grouped, ExchangesOnlyTheLeadersOwnGradientsWithOuterOnly) {
  expect_near(result_of(groups_of_three(Grouped::Rule::outer_only), 2), {6, 2, 6, 6});
}

// A partial mean of weighted means would not be a mean: a leader that sees no other keeps its
// group's.
TEST(Grouped, DoesNotScaleWhatAnOuterExchangeLeavesAlone) {
  ExchangesConfig config = groups_of_three(Grouped::Rule::inner_then_outer);
  config.grouped.outer = "none";
  expect_near(result_of(config, 2), {3, 3, 3, 11});
  config.grouped.outer = "rma_ring";
  std::vector<float> alone(4);
  on_threads({.ranks = 4}, [&](Kit& kit) {
    const auto rank = static_cast<std::size_t>(kit.communicator.rank());
    HandDriven driven(kit, "grouped", config);
    if (rank < 3) alone[rank] = driven.call(2, 3);
    kit.barrier();
  });
  EXPECT_EQ(alone[0], 3.0F) << "the other leader has shown nothing yet";
}

TEST(Grouped, DrawsEveryLeaderNowAndThenAndTheSameOnAllRanks) {
  // 60 draws of 3: some leader is never drawn with probability 3 (2/3)^60 < 1e-9
  ExchangesConfig config = groups_of_three(Grouped::Rule::inner_then_outer);
  config.grouped.leader = Grouped::Leader::drawn;
  config.grouped.outer_every = 1;
  std::array<std::set<std::int64_t>, 3> led;  // epochs, by rank
  on_threads({.ranks = 4}, [&](Kit& kit) {
    HandDriven driven(kit, "grouped", config);
    const int rank = kit.communicator.rank();
    for (std::int64_t epoch = 1; epoch <= 60; ++epoch) {
      const float result = driven.call(epoch, rank == 3 ? 8 : 4);
      if (rank == 3) {
        EXPECT_NEAR(result, 5, 1e-5);
      } else if (result > 4.5F) {
        led[static_cast<std::size_t>(rank)].insert(epoch);
      }
    }
  });
  EXPECT_EQ(led[0].size() + led[1].size() + led[2].size(), 60U) << "one leader an epoch";
  for (const auto& epochs : led) EXPECT_FALSE(epochs.empty());
}

TEST(Grouped, KeepsTheStateOfItsPartsApart) {
  on_threads({.ranks = 4}, [](Kit& kit) {
    ExchangesConfig config = groups_of_three(Grouped::Rule::inner_then_outer);
    config.grouped.inner = config.grouped.outer = "rma_ring";
    HandDriven driven(kit, "grouped", config);
    const State state{{"inner.rma_ring.clock", {7}}, {"outer0.rma_ring.clock", {9}}};
    driven.exchange().take_state(state);
    EXPECT_EQ(driven.state(), state);
  });
}

TEST(Grouped, KeepsWhatItPromisesAboutWaiting) {
  for (const char* outer : {"rma_ring", "none"})
    for (const auto rule :
         {Grouped::Rule::inner_then_outer_then_broadcast, Grouped::Rule::inner_then_outer})
      for (const std::int64_t size : {1, 2, 4})
        run_ranks({.ranks = 4}, [&](Communicator& communicator) {
          Kit kit(communicator, {.timeout_s = 60, .alarmed = {}});
          ExchangesConfig config = groups_of_three(rule);
          config.grouped.group_size = size;
          config.grouped.inner = "rma_ring";
          config.grouped.outer = outer;
          HandDriven driven(kit, "grouped", config);
          const bool waits = driven.exchange().promise().waits;
          for (int turn = 0; turn < 4; ++turn) {
            if (turn == communicator.rank() && !waits)
              for (std::int64_t epoch = 1; epoch <= 4; ++epoch) driven.call(epoch, 1);
            kit.barrier();
          }
          if (rule == Grouped::Rule::inner_then_outer) {
            EXPECT_FALSE(waits);
          }
        });
}

}  // namespace
}  // namespace sagips::comm::testing
