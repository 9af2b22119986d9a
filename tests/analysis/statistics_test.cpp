#include "sagips/analysis/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sagips/core/error.hpp"
#include "sagips/core/random.hpp"

namespace sagips::analysis {
namespace {

using Numbers = std::vector<double>;

std::vector<double> sorted_uniform(std::uint32_t sample, std::size_t count) {
  std::vector<double> values(count);
  core::RandomStream(1, "statistics test").uniform(sample, 0, std::span(values));
  std::sort(values.begin(), values.end());
  return values;
}

double uniform_distribution(double x) { return std::clamp(x, 0.0, 1.0); }

TEST(KolmogorovSmirnov, OfOneSampleLooksOnBothSidesOfEachStep) {
  // Steps of 1/3 at 0.1, 0.4, 0.7 against x: largest after the last one, 1 - 0.7.
  EXPECT_NEAR(kolmogorov_smirnov(Numbers{0.1, 0.4, 0.7}, uniform_distribution), 0.3, 1e-15);
  // Here before the first one, 0.5 - 0.
  EXPECT_NEAR(kolmogorov_smirnov(Numbers{0.5, 0.6, 0.9}, uniform_distribution), 0.5, 1e-15);
}

TEST(KolmogorovSmirnov, OfTwoSamplesIsTheLargestGapOfTheirSteps) {
  // After 2: 2/2 against 1/4.
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(Numbers{1, 2}, Numbers{2, 3, 4, 5}), 0.75);
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(Numbers{1, 2}, Numbers{3}), 1);
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(Numbers{3}, Numbers{1, 2}), 1);
}

TEST(KolmogorovSmirnov, DoesNotSplitEqualValues) {
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(Numbers{1, 1, 1}, Numbers{1, 1}), 0);
  // After 1: 2/3 against 1/2.
  EXPECT_NEAR(kolmogorov_smirnov(Numbers{1, 1, 2}, Numbers{1, 2}), 1.0 / 6, 1e-15);
}

TEST(KolmogorovSmirnov, RefusesWhatIsNotSorted) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(kolmogorov_smirnov(Numbers{2, 1}, Numbers{1}), core::Error);
  EXPECT_THROW(kolmogorov_smirnov(Numbers{1}, Numbers{}), core::Error);
  EXPECT_THROW(kolmogorov_smirnov(Numbers{1, nan, 2}, Numbers{1}), core::Error);
  EXPECT_THROW(kolmogorov_smirnov(Numbers{}, uniform_distribution), core::Error);
}

TEST(KolmogorovPValue, AgreesWithTheTableOfTheLimit) {
  // Percentage points of Kolmogorov's distribution: Smirnov, Ann. Math. Stat. 19 (1948) 279. Four
  // decimals of the points leave up to 3e-5 of the probability open.
  const double n = 1e12, root = std::sqrt(n);
  EXPECT_NEAR(kolmogorov_p_value(1.2238 / root, n), 0.10, 3e-5);
  EXPECT_NEAR(kolmogorov_p_value(1.3581 / root, n), 0.05, 3e-5);
  EXPECT_NEAR(kolmogorov_p_value(1.6276 / root, n), 0.01, 3e-5);
  EXPECT_NEAR(kolmogorov_p_value(1.9495 / root, n), 0.001, 3e-6);
}

TEST(KolmogorovPValue, AgreesWithTheExactPointsOfSmallSamples) {
  // Exact 5 % points: Miller, J. Am. Stat. Assoc. 51 (1956) 111. Stephens' formula is good to a
  // few per cent of the probability.
  EXPECT_NEAR(kolmogorov_p_value(0.40925, 10), 0.05, 0.002);
  EXPECT_NEAR(kolmogorov_p_value(0.29408, 20), 0.05, 0.002);
  EXPECT_NEAR(kolmogorov_p_value(0.18841, 50), 0.05, 0.002);
}

TEST(KolmogorovPValue, IsSmoothWhereItsTwoSeriesMeet) {
  const double n = 1e12, root = std::sqrt(n);
  const double below = kolmogorov_p_value((1 - 1e-9) / root, n);
  const double above = kolmogorov_p_value((1 + 1e-9) / root, n);
  EXPECT_NEAR(below, above, 1e-7);
  EXPECT_NEAR(below, 0.27, 1e-3);
}

TEST(KolmogorovPValue, RunsFromOneToZero) {
  EXPECT_EQ(kolmogorov_p_value(0, 100), 1);
  EXPECT_NEAR(kolmogorov_p_value(0.01, 100), 1, 1e-12);
  EXPECT_NEAR(kolmogorov_p_value(1, 100), 0, 1e-12);
}

TEST(KolmogorovPValue, IsUniformOverToys) {
  // 400 toys at a fixed seed: the share with p < 0.1 has a standard error of 0.015. Between 0.04
  // and 0.16 the false-alarm probability is 6e-5.
  int rare = 0;
  for (std::uint32_t toy = 0; toy < 400; ++toy) {
    const auto a = sorted_uniform(2 * toy, 300), b = sorted_uniform(2 * toy + 1, 200);
    rare += kolmogorov_p_value(kolmogorov_smirnov(a, b), effective_count(300, 200)) < 0.1;
  }
  EXPECT_GT(rare, 16);
  EXPECT_LT(rare, 64);
}

TEST(EffectiveCount, OfEqualSamplesIsHalfOfOne) {
  EXPECT_DOUBLE_EQ(effective_count(10, 10), 5);
  EXPECT_DOUBLE_EQ(effective_count(1, 3), 0.75);
}

TEST(Moments, AreThoseOfASmallSample) {
  const Numbers values{2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(mean(values), 5);
  EXPECT_DOUBLE_EQ(standard_deviation(values), std::sqrt(32.0 / 7));
  EXPECT_THROW(mean(Numbers{}), core::Error);
  EXPECT_THROW(standard_deviation(Numbers{1}), core::Error);
}

TEST(Quantile, IsLinearBetweenNeighbours) {
  const Numbers values{10, 20, 30, 40};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 40);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 25);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 17.5);
  EXPECT_DOUBLE_EQ(quantile(Numbers{7}, 0.3), 7);
  EXPECT_THROW(quantile(values, 1.5), core::Error);
  EXPECT_THROW(quantile(Numbers{}, 0.5), core::Error);
  EXPECT_THROW(quantile(Numbers{2, 1}, 0.5), core::Error);
}

TEST(Pulls, AreSummarisedWithTheErrorsOfUnitPulls) {
  const PullSummary summary = summarise_pulls(Numbers{-1, 0, 1, 0});
  EXPECT_DOUBLE_EQ(summary.mean, 0);
  EXPECT_DOUBLE_EQ(summary.width, std::sqrt(2.0 / 3));
  EXPECT_DOUBLE_EQ(summary.mean_error, 0.5);
  EXPECT_DOUBLE_EQ(summary.width_error, 1 / std::sqrt(8.0));
}

TEST(CorrelationMatrix, SeesSignAndStrength) {
  // Columns: x, -2x, and one that is orthogonal to x.
  const Numbers samples{1, -2, 1, 2, -4, -2, 3, -6, 1};
  const auto matrix = correlation_matrix(samples, 3);
  const Numbers expected{1, -1, 0, -1, 1, 0, 0, 0, 1};
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(matrix[i], expected[i], 1e-15) << i;
}

TEST(CorrelationMatrix, AgreesWithASampleWorkedOutByHand) {
  // x = 1, 2, 3, 4; y = 1, 3, 2, 4: sum of products 4, squares 5 and 5.
  EXPECT_DOUBLE_EQ(correlation_matrix(Numbers{1, 1, 2, 3, 3, 2, 4, 4}, 2)[1], 0.8);
}

TEST(CorrelationMatrix, HasNoneForAColumnThatDoesNotVary) {
  const auto matrix = correlation_matrix(Numbers{1, 5, 2, 5, 3, 5}, 2);
  EXPECT_TRUE(std::isnan(matrix[1]));
  EXPECT_EQ(matrix[3], 1);
  EXPECT_THROW(correlation_matrix(Numbers{1, 2}, 2), core::Error);
  EXPECT_THROW(correlation_matrix(Numbers{1, 2, 3}, 2), core::Error);
}

}  // namespace
}  // namespace sagips::analysis
