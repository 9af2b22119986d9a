#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "sagips/analysis/convergence/simulated.hpp"

namespace {

using namespace sagips::analysis;
using LearningCurve = sagips::record::SimulatedLearningCurve;

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
  const std::vector<double> of{2, 8, 32}, twice{1, 4.004, 16}, other{2, 8, 31};
  const PairedRatio ratio = paired_ratio(of, twice);
  EXPECT_NEAR(ratio.ratio, 2 / std::cbrt(1.001), 1e-12);
  EXPECT_LT(*ratio.chance, 1e-6);
  EXPECT_GT(*paired_ratio(of, other).chance, 0.3);  // t = 1 with two degrees of freedom: 0.42
  EXPECT_FALSE(paired_ratio(std::vector{1.0}, std::vector{2.0}).chance);
}

TEST(SimulatedConvergence, TellsNothingFromSeedsThatMakeNoDifference) {
  const std::vector<double> of{2, 8, 32}, half{1, 4, 16};
  const PairedRatio ratio = paired_ratio(of, half);
  EXPECT_NEAR(ratio.ratio, 2, 1e-12);
  EXPECT_FALSE(ratio.chance);
  EXPECT_DOUBLE_EQ(*paired_ratio(of, of).chance, 1);
}

TEST(SimulatedConvergence, CorrectsForManyComparisons) {
  const std::vector<double> corrected = corrected_for_many({0.04, 0.01, 0.5});
  EXPECT_DOUBLE_EQ(corrected[1], 0.03);
  EXPECT_DOUBLE_EQ(corrected[0], 0.08);
  EXPECT_DOUBLE_EQ(corrected[2], 0.5);
}

LearningCurve falling(double last, double time_s) {
  LearningCurve curve;
  for (std::int64_t epoch = 0; epoch <= 8; epoch += 2)
    curve.points.push_back({.epoch = epoch,
                            .time_s = time_s * static_cast<double>(epoch) / 8,
                            .last_s = time_s * static_cast<double>(epoch) / 8,
                            .first = {last},
                            .mean = {last / 2},
                            .spread = {0},
                            .typical = epoch == 8 ? last : 1.0 / static_cast<double>(epoch + 1)});
  return curve;
}

/// Whether a line begins and ends so.
bool has_row(const std::string& table, const std::string& begin, const std::string& end) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind(begin + " ", 0) == 0 && line.size() > end.size() &&
        line.compare(line.size() - end.size(), end.size(), end) == 0)
      return true;
  return false;
}

SimulatedVariant of_three_seeds(const std::string& label, double first, double second,
                                double third) {
  return {label, 8, {1, 2, 3}, {falling(first, 4), falling(second, 4), falling(third, 4)}};
}

TEST(SimulatedConvergence, SumsALearningCurveUp) {
  const SimulatedSummary found = summary(falling(0.1, 4), 0.2);
  EXPECT_DOUBLE_EQ(found.of_a_rank, 0.1);  // only epoch 8 lies in the last quarter
  EXPECT_DOUBLE_EQ(found.of_mean, 0.05);
  EXPECT_DOUBLE_EQ(found.epoch_s, 0.5);
  ASSERT_TRUE(found.until_bar_s);
  EXPECT_DOUBLE_EQ(*found.until_bar_s, 2);  // 1/5 at epoch 4
  EXPECT_FALSE(summary(falling(0.1, 4), 0.01).until_bar_s);
}

TEST(SimulatedConvergence, TellsDifferencesFromChance) {
  const SimulatedVariant exact = of_three_seeds("exact", 0.1, 0.11, 0.09);
  const SimulatedVariant worse = of_three_seeds("apart", 0.2, 0.23, 0.18);
  const SimulatedVariant same = of_three_seeds("same", 0.11, 0.1, 0.09);
  const std::string table = simulated_table({exact, worse, same});
  EXPECT_NE(table.find("worse"), std::string::npos) << table;
  EXPECT_NE(table.find("no difference seen"), std::string::npos) << table;
}

TEST(SimulatedConvergence, JudgesOthersBesideOneThatCannotBe) {
  const SimulatedVariant exact = of_three_seeds("exact", 0.1, 0.11, 0.09);
  const SimulatedVariant worse = of_three_seeds("apart", 0.2, 0.23, 0.18);
  const SimulatedVariant doubled = of_three_seeds("doubled", 0.2, 0.22, 0.18);
  const SimulatedVariant single{"single", 8, {3}, {falling(0.2, 4)}};
  const SimulatedVariant other{"other", 8, {4}, {falling(0.2, 4)}};
  const std::string table = simulated_table({exact, doubled, worse, single, other});
  EXPECT_TRUE(has_row(table, "doubled", "the same for all seeds: no verdict")) << table;
  EXPECT_TRUE(has_row(table, "apart", "worse")) << table;
  EXPECT_TRUE(has_row(table, "single", "one seed: no verdict")) << table;
  EXPECT_EQ(table.find("2.22 ("), std::string::npos) << table;  // one seed: its error is not known
  EXPECT_TRUE(has_row(table, "other", "no seed of both: no verdict")) << table;
}

TEST(SimulatedConvergence, TakesNoOtherReference) {
  const SimulatedVariant failed{"exact", 8, {}, {}};
  const SimulatedVariant apart{"apart", 8, {1, 2}, {falling(0.2, 4), falling(0.23, 4)}};
  const SimulatedVariant same{"same", 8, {1, 2}, {falling(0.11, 4), falling(0.1, 4)}};
  const std::string table = simulated_table({failed, apart, same});
  EXPECT_EQ(table.find("against"), std::string::npos) << table;
  EXPECT_NE(table.find("not trained: exact\n"), std::string::npos) << table;
  EXPECT_NE(table.find("no comparison: exact"), std::string::npos) << table;
  EXPECT_EQ(simulated_over_time({failed, apart, same}).panels.at(0).series.size(), 2U);
  EXPECT_EQ(simulated_table({failed}), "");
}

TEST(SimulatedConvergence, FitsATerminalOf120) {
  std::vector<SimulatedVariant> variants;
  for (const char* label : {"rabenseifner", "averaged/rma_arar_arar"}) {
    const double scale = variants.empty() ? 1 : 1.9;
    variants.push_back(
        {label,
         400,
         {1, 2, 3},
         {falling(0.1012 * scale, 4.04), falling(0.1234 * scale, 5.213), falling(0.3345, 6.7)}});
    for (LearningCurve& curve : variants.back().curves) {
      curve.points.back().consensus_distance = 1.234e-07;
      curve.used = 1;
      curve.age_mean = 0.551;
    }
  }
  const std::string table = simulated_table(variants);
  EXPECT_NE(table.find(" of 3)"), std::string::npos) << table;  // the widest cell
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }),
              120)
        << line;
}

}  // namespace
