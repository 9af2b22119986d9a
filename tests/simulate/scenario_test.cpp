#include "sagips/simulate/scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace sagips::simulate {
namespace {

constexpr std::size_t epochs = 100'000;

std::vector<double> times(const ScenarioConfig& scenario, int rank, std::size_t count = epochs,
                          std::int64_t first = 0) {
  std::vector<double> all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = compute_time(scenario, rank, first + static_cast<std::int64_t>(i));
  return all;
}

ScenarioConfig jittered(double mean, double spread) {
  ScenarioConfig scenario;
  scenario.compute_s = mean;
  scenario.jitter = spread;
  return scenario;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double correlation(const std::vector<double>& left, const std::vector<double>& right) {
  const double left_mean = mean_of(left), right_mean = mean_of(right);
  double both = 0, left_square = 0, right_square = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double x = left[i] - left_mean, y = right[i] - right_mean;
    both += x * y;
    left_square += x * x;
    right_square += y * y;
  }
  return both / std::sqrt(left_square * right_square);
}

double distance_from_log_normal(std::vector<double> values, double mean, double spread) {
  std::sort(values.begin(), values.end());
  const double variance = std::log(1 + spread * spread);
  const auto count = static_cast<double>(values.size());
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double normal = (std::log(values[i] / mean) + variance / 2) / std::sqrt(variance);
    const double below = std::erfc(-normal / std::sqrt(2.0)) / 2;
    const auto rank = static_cast<double>(i);
    largest = std::max({largest, below - rank / count, (rank + 1) / count - below});
  }
  return largest;
}

TEST(ComputeTimes, AreAllTheMeanWithoutJitter) {
  for (const double time : times(jittered(0.25, 0), 3, 100)) EXPECT_EQ(time, 0.25);
}

TEST(ComputeTimes, AreTheSameForTheSameScenarioRankAndEpoch) {
  const ScenarioConfig scenario = jittered(0.25, 0.5);
  EXPECT_EQ(times(scenario, 7, 50), times(scenario, 7, 50));
  const std::vector<double> all = times(scenario, 7, 50);
  EXPECT_EQ(times(scenario, 7, 20, 30), std::vector<double>(all.begin() + 30, all.end()));
  EXPECT_NE(times(scenario, 8, 50), all);
  ScenarioConfig other = scenario;
  other.seed = 2;
  EXPECT_NE(times(other, 7, 50), all);
}

// False alarm 1e-6 each: Kolmogorov-Smirnov distance above sqrt(ln(2e6) / 2 / n) = 2.694 / sqrt(n).
TEST(ComputeTimes, AreLogNormalWithTheirMeanAndSpread) {
  const double critical = 2.694 / std::sqrt(static_cast<double>(epochs));
  for (const double spread : {0.05, 0.3, 1.5})
    EXPECT_LT(distance_from_log_normal(times(jittered(0.02, spread), 5), 0.02, spread), critical);
}

// False alarm 1e-6: the mean of n numbers with the relative spread s is beyond 4.9 s / sqrt(n).
TEST(ComputeTimes, HaveTheMeanThatWasAskedFor) {
  const double spread = 0.3;
  EXPECT_NEAR(mean_of(times(jittered(2.0, spread), 1)) / 2.0, 1,
              4.9 * spread / std::sqrt(static_cast<double>(epochs)));
}

// False alarm 1e-6 each: a correlation of n independent pairs beyond 4.9 / sqrt(n).
TEST(ComputeTimes, OfRanksAndEpochsAreIndependent) {
  const ScenarioConfig scenario = jittered(1, 0.3);
  const double critical = 4.9 / std::sqrt(static_cast<double>(epochs));
  const std::vector<double> first = times(scenario, 0);
  EXPECT_LT(std::abs(correlation(first, times(scenario, 1))), critical);
  EXPECT_LT(std::abs(correlation(first, times(scenario, 0, epochs, 1))), critical);
}

// False alarm 1e-6: chi-square with 9 degrees of freedom above 45.
TEST(ComputeTimes, AreDrawnFromASampleWithReplacement) {
  ScenarioConfig scenario = jittered(100, 0.5);
  for (int i = 1; i <= 10; ++i) scenario.sample.push_back(i);
  std::map<double, double> counts;
  for (const double time : times(scenario, 2)) ++counts[time];
  ASSERT_EQ(counts.size(), 10U);
  const double expected = static_cast<double>(epochs) / 10;
  double chi_square = 0;
  for (const auto& [time, count] : counts) {
    EXPECT_NE(std::find(scenario.sample.begin(), scenario.sample.end(), time),
              scenario.sample.end());
    chi_square += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_square, 45);
}

TEST(ComputeTimes, OfTheStragglerAreThoseTimesItsSlowdown) {
  ScenarioConfig scenario = jittered(1, 0.3);
  const std::vector<double> undisturbed = times(scenario, 4, 20), other = times(scenario, 5, 20);
  scenario.straggler = 4;
  scenario.slowdown = 5;
  const std::vector<double> slow = times(scenario, 4, 20);
  for (std::size_t i = 0; i < slow.size(); ++i) EXPECT_EQ(slow[i], 5 * undisturbed[i]);
  EXPECT_EQ(times(scenario, 5, 20), other);
  scenario.sample = {2.0};
  EXPECT_EQ(times(scenario, 4, 1), std::vector<double>{10.0});
}

TEST(Scenario, ReadsBackWhatItWrites) {
  ScenarioConfig scenario = jittered(0.1, 0.2);
  scenario.sample = {1, 2.5};
  scenario.overlap = ScenarioConfig::Overlap::one_update_late;
  scenario.straggler = 3;
  scenario.data_bytes = 1 << 20;
  const std::string yaml = core::write_config(scenario);
  const auto document = core::ConfigDocument::from_text(yaml, "scenario");
  const ScenarioConfig again = core::read_config(document, ScenarioConfig{});
  EXPECT_EQ(core::write_config(again), yaml);
  EXPECT_EQ(again.overlap, ScenarioConfig::Overlap::one_update_late);
}

}  // namespace
}  // namespace sagips::simulate
