#include <gtest/gtest.h>

#include <cmath>

#include "sagips/analysis/convergence/simulated.hpp"

namespace {

using namespace sagips::analysis;
using Course = sagips::record::SimulatedCourse;

TEST(SimulatedConvergence, KnowsStudentsDistribution) {
  // source: tables of Student's t, two-sided 5 and 1 %
  EXPECT_NEAR(student_p_value(12.706, 1), 0.05, 1e-5);
  EXPECT_NEAR(student_p_value(-4.303, 2), 0.05, 1e-5);
  EXPECT_NEAR(student_p_value(3.182, 3), 0.05, 1e-4);
  EXPECT_NEAR(student_p_value(4.604, 4), 0.01, 1e-5);
  EXPECT_NEAR(student_p_value(2.262, 9), 0.05, 1e-4);
  EXPECT_DOUBLE_EQ(student_p_value(0, 5), 1);
}

TEST(SimulatedConvergence, ComparesSeedBySeed) {
  const std::vector<double> of{2, 8, 32}, twice{1, 4, 16}, other{2, 8, 31};
  const PairedRatio ratio = paired_ratio(of, twice);
  EXPECT_NEAR(ratio.ratio, 2, 1e-12);
  EXPECT_LT(*ratio.chance, 1e-6);
  EXPECT_GT(*paired_ratio(of, other).chance, 0.3);  // t = 1 with two degrees of freedom: 0.42
  EXPECT_FALSE(paired_ratio(std::vector{1.0}, std::vector{2.0}).chance);
}

TEST(SimulatedConvergence, CorrectsForManyComparisons) {
  const std::vector<double> corrected = corrected_for_many({0.04, 0.01, 0.5});
  EXPECT_DOUBLE_EQ(corrected[1], 0.03);
  EXPECT_DOUBLE_EQ(corrected[0], 0.08);
  EXPECT_DOUBLE_EQ(corrected[2], 0.5);
}

Course falling(double last, double time_s) {
  Course course;
  for (std::int64_t epoch = 0; epoch <= 8; epoch += 2)
    course.points.push_back({.epoch = epoch,
                             .time_s = time_s * static_cast<double>(epoch) / 8,
                             .last_s = time_s * static_cast<double>(epoch) / 8,
                             .first = {last},
                             .mean = {last / 2},
                             .spread = {0},
                             .typical = epoch == 8 ? last : 1.0 / static_cast<double>(epoch + 1)});
  return course;
}

TEST(SimulatedConvergence, SumsACourseUp) {
  const SimulatedSummary found = summary(falling(0.1, 4), 0.2);
  EXPECT_DOUBLE_EQ(found.of_a_rank, 0.1);  // only epoch 8 lies in the last quarter
  EXPECT_DOUBLE_EQ(found.of_mean, 0.05);
  EXPECT_DOUBLE_EQ(found.epoch_s, 0.5);
  ASSERT_TRUE(found.until_bar_s);
  EXPECT_DOUBLE_EQ(*found.until_bar_s, 2);  // 1/5 at epoch 4
  EXPECT_FALSE(summary(falling(0.1, 4), 0.01).until_bar_s);
}

TEST(SimulatedConvergence, TellsDifferencesFromChance) {
  const SimulatedVariant exact{
      "exact", 8, {1, 2, 3}, {falling(0.1, 4), falling(0.11, 4), falling(0.09, 4)}};
  const SimulatedVariant worse{
      "apart", 8, {1, 2, 3}, {falling(0.2, 4), falling(0.23, 4), falling(0.18, 4)}};
  const SimulatedVariant same{
      "same", 8, {1, 2, 3}, {falling(0.11, 4), falling(0.1, 4), falling(0.09, 4)}};
  const std::string table = simulated_table({exact, worse, same});
  EXPECT_NE(table.find("worse"), std::string::npos) << table;
  EXPECT_NE(table.find("no difference seen"), std::string::npos) << table;
}

}  // namespace
