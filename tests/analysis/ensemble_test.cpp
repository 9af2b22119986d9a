#include "sagips/analysis/ensemble.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "sagips/analysis/figures/ensemble.hpp"
#include "sagips/core/error.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::analysis {
namespace {

// Two noise vectors, two parameters (truth 2 and 10), three members.
Ensemble small() {
  return {{"a", "b"}, {2.0, 10.0}, {{1, 9, 3, 9}, {2, 10, 2, 10}, {3, 14, 4, 8}}};
}

TEST(EnsembleAnalysis, GivesEquationsSevenAndEightByHand) {
  const auto parameters = summarise(small());
  ASSERT_EQ(parameters.size(), 2u);
  // a: noise 1: 1, 2, 3 -> mean 2, spread sqrt(2/3); noise 2: 3, 2, 4 -> mean 3, spread sqrt(2/3)
  EXPECT_DOUBLE_EQ(parameters[0].value, 2.5);
  EXPECT_DOUBLE_EQ(parameters[0].spread, std::sqrt(2.0 / 3));
  EXPECT_DOUBLE_EQ(*parameters[0].residual, -0.25);
  // members' means of a: 2, 2, 3.5
  EXPECT_NEAR(parameters[0].deviation, std::sqrt(0.75), 1e-12);
  // b: 9, 10, 14 -> 11, sqrt(14/3); 9, 10, 8 -> 9, sqrt(2/3)
  EXPECT_DOUBLE_EQ(parameters[1].value, 10);
  EXPECT_DOUBLE_EQ(parameters[1].spread, (std::sqrt(14.0 / 3) + std::sqrt(2.0 / 3)) / 2);
  EXPECT_DOUBLE_EQ(*parameters[1].residual, 0);
}

TEST(EnsembleAnalysis, TakesTheRootMeanSquareOverParameters) {
  const auto all = quality(small());
  ASSERT_TRUE(all);
  const auto parameters = summarise(small());
  EXPECT_NEAR(all->residual, std::sqrt((0.25 * 0.25 + 0) / 2), 1e-12);
  const double a = parameters[0].spread / 2, b = parameters[1].spread / 10;
  EXPECT_NEAR(all->spread, std::sqrt((a * a + b * b) / 2), 1e-12);
}

TEST(EnsembleAnalysis, LeavesOutParametersWithoutASizableTruth) {
  Ensemble ensemble = small();
  ensemble.truth = {0.0, 10.0};
  EXPECT_FALSE(summarise(ensemble)[0].residual);
  EXPECT_NEAR(quality(ensemble)->residual, 0, 1e-12);
  ensemble.truth = {std::nullopt, std::nullopt};
  EXPECT_FALSE(quality(ensemble));
  const std::vector<std::size_t> sizes{1, 2};
  EXPECT_TRUE(over_sizes(ensemble, sizes, 10, 1).empty());
}

// All sub-ensembles of two of four members, against a thousand draws: the mean of n draws of a
// finite list is off by its deviation / sqrt(n), and beyond 4 of these once in 16,000; four numbers.
TEST(EnsembleAnalysis, DrawsSubEnsemblesAsBruteForceListsThem) {
  const Ensemble four{{"a"}, {1.0}, {{1.0F, 2.0F}, {1.4F, 0.8F}, {0.7F, 1.1F}, {2.0F, 1.3F}}};
  double residual = 0, squares = 0, spread = 0, spread_squares = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = i + 1; j < 4; ++j) {
      const auto one = quality({four.parameters, four.truth, {four.members[i], four.members[j]}});
      residual += one->residual / 6;
      squares += one->residual * one->residual / 6;
      spread += one->spread / 6;
      spread_squares += one->spread * one->spread / 6;
    }
  const double residual_deviation = std::sqrt(squares - residual * residual);
  const double spread_deviation = std::sqrt(spread_squares - spread * spread);
  constexpr std::size_t draws = 1000;
  const std::vector<std::size_t> sizes{2, 4};
  const auto drawn = over_sizes(four, sizes, draws, 3);
  ASSERT_EQ(drawn.size(), 2u);
  const double tolerance = 4 / std::sqrt(static_cast<double>(draws));
  EXPECT_NEAR(drawn[0].residual, residual, tolerance * residual_deviation);
  EXPECT_NEAR(drawn[0].spread, spread, tolerance * spread_deviation);
  EXPECT_NEAR(drawn[0].residual_deviation, residual_deviation, tolerance * residual_deviation);
  EXPECT_NEAR(drawn[0].spread_deviation, spread_deviation, tolerance * spread_deviation);
  EXPECT_EQ(drawn[1].residual_deviation, 0) << "all members are one ensemble";
  EXPECT_NEAR(drawn[1].residual, quality(four)->residual, 1e-12);
  EXPECT_NEAR(drawn[1].spread, quality(four)->spread, 1e-12);
  EXPECT_EQ(over_sizes(four, sizes, draws, 3)[0].residual, drawn[0].residual) << "it repeats";
}

TEST(EnsembleAnalysis, FindsErrorsByLeavingMembersOut) {
  const Ensemble two{{"a"}, {1.0}, {{1.5F}, {1.1F}}};
  // without one or the other the residual is 0.1 or 0.5 in size, the spread 0
  const EnsembleQuality errors = quality_errors(two);
  EXPECT_NEAR(errors.residual, 0.2, 1e-6) << "sqrt(1/2 * 2 * 0.2^2)";
  EXPECT_EQ(errors.spread, 0);
}

TEST(EnsembleAnalysis, ChoosesSizesFromOneMemberToAll) {
  EXPECT_EQ(sampled_sizes(3), (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(sampled_sizes(1), (std::vector<std::size_t>{1}));
  for (const std::size_t members : {20u, 100u, 1000u}) {
    const auto sizes = sampled_sizes(members);
    EXPECT_EQ(sizes.front(), 1u);
    EXPECT_EQ(sizes.back(), members);
    EXPECT_LE(sizes.size(), 45u);
    for (std::size_t i = 1; i < sizes.size(); ++i) EXPECT_GT(sizes[i], sizes[i - 1]);
  }
}

TEST(EnsembleAnalysis, RefusesMembersThatDoNotBelongTogether) {
  EXPECT_THROW(summarise({{"a"}, {1.0}, {}}), core::Error);
  EXPECT_THROW(summarise({{"a"}, {1.0}, {{1, 2}, {1}}}), core::Error);
  EXPECT_THROW(summarise({{"a", "b"}, {1.0, 1.0}, {{1, 2, 3}}}), core::Error);
  EXPECT_THROW(summarise({{"a", "b"}, {1.0}, {{1, 2}}}), core::Error);
}

TEST(EnsembleFigures, AreDrawn) {
  const std::vector<std::size_t> sizes{1, 2, 3};
  const testing::TemporaryFolder folder;
  std::string problem;
  EXPECT_TRUE(write_figure(ensemble_sizes({{"all", over_sizes(small(), sizes, 20, 1)}}),
                           folder.file("sizes"), problem))
      << problem;
  const std::vector<VariantQuality> variants{
      {"generator.width=16", *quality(small()), quality_errors(small())},
      {"generator.width=32", *quality(small()), quality_errors(small())}};
  EXPECT_TRUE(write_figure(ensemble_variants(variants), folder.file("variants"), problem));
}

}  // namespace
}  // namespace sagips::analysis
