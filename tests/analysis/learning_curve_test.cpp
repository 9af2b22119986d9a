#include "sagips/analysis/convergence/learning_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sagips/core/error.hpp"
#include "tests/analysis/learning_curves.hpp"

namespace sagips::analysis {
namespace {

using testing::snapshot;
using Numbers = std::vector<double>;

void expect_near(const Numbers& numbers, const Numbers& expected) {
  ASSERT_EQ(numbers.size(), expected.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(numbers[i], expected[i], 1e-6) << i;
}

// Two noise vectors. At 6 s the first member is at 2.2 and 4.2, the second at 4 and 8: means 3.1 and
// 6.1, deviations 0.9 and 1.9. At 10 s the second one has finished and stays at 4 and 8.
const std::vector<MemberLearningCurve> two_members{{snapshot(0, {1, 3}), snapshot(10, {3, 5})},
                                                   {snapshot(2, {2, 2}), snapshot(6, {4, 8})}};

TEST(EnsembleLearningCurve, InterpolatesEachMemberAtEachNoiseVector) {
  const EnsembleLearningCurve curve = ensemble_learning_curve(two_members, {{"a", 4}}, 3);
  expect_near(curve.time_s, {2, 6, 10});
  expect_near(curve.target_curves[0].residual, {(4 - 2.2) / 4, (4 - 4.6) / 4, (4 - 5.0) / 4});
  // at 2 s: 1.4 and 3.4 against 2 and 2
  expect_near(curve.target_curves[0].spread, {(0.3 + 0.7) / 2 / 4, (0.9 + 1.9) / 2 / 4, 1.0 / 4});
  expect_near(curve.member_residuals[1][2], {(4 - 6.0) / 4});
}

TEST(EnsembleLearningCurve, TakesTheSpreadAtEachNoiseVectorBeforeAveraging) {
  // Both members have the mean 2: a spread of means would be 0.
  const std::vector<MemberLearningCurve> members{{snapshot(1, {1, 3})}, {snapshot(1, {3, 1})}};
  const EnsembleLearningCurve curve = ensemble_learning_curve(members, {{"a", 4}}, 3);
  expect_near(curve.time_s, {1});
  expect_near(curve.target_curves[0].residual, {0.5});
  expect_near(curve.target_curves[0].spread, {0.25});
}

TEST(EnsembleLearningCurve, TakesTheSizeOfANegativeTruthForTheSpread) {
  const std::vector<MemberLearningCurve> members{{snapshot(1, {-1})}, {snapshot(1, {-3})}};
  const EnsembleLearningCurve curve = ensemble_learning_curve(members, {{"a", -4}}, 2);
  expect_near(curve.target_curves[0].residual, {0.5});
  expect_near(curve.target_curves[0].spread, {0.25});
}

TEST(EnsembleLearningCurve, LooksOnlyAtParametersWithATruth) {
  const std::vector<std::string> names{"a", "unknown", "b"};
  const std::vector<MemberLearningCurve> members{{snapshot(1, {1, 100, 3, 1, 100, 3}, names)}};
  const EnsembleLearningCurve curve = ensemble_learning_curve(members, {{"b", 4}, {"a", 2}}, 2);
  expect_near(curve.target_curves[0].residual, {0.25});
  expect_near(curve.target_curves[1].residual, {0.5});
}

TEST(EnsembleLearningCurve, RefusesMembersThatCannotBeCompared) {
  const std::vector<Target> targets{{"a", 1}};
  const auto refuses = [&](std::vector<MemberLearningCurve> members) {
    EXPECT_THROW(ensemble_learning_curve(members, targets, 3), core::Error);
  };
  refuses({});
  refuses({{snapshot(1, {1})}, {}});
  refuses({{snapshot(1, {1})}, {snapshot(1, {1, 2})}});
  refuses({{snapshot(1, {1})}, {snapshot(1, {1}, {"b"})}});
  EXPECT_THROW(ensemble_learning_curve(two_members, {{"b", 1}}, 3), core::Error);
  EXPECT_THROW(ensemble_learning_curve(two_members, {}, 3), core::Error);
}

TEST(EnsembleDistance, CountsInFloorsWhereAllAreKnown) {
  const std::vector<Target> targets{{"a", 1, 0.1}, {"b", 1, 0.2}};
  // 3 floors and 1 floor: sqrt((9 + 1) / 2)
  EXPECT_DOUBLE_EQ(distance(Numbers{0.3, -0.2}, targets), std::sqrt(5.0));
  EXPECT_EQ(distance_unit(targets).label, "floors");
  const std::vector<Target> unknown{{"a", 1, 0.1}, {"b", 1}};
  EXPECT_DOUBLE_EQ(distance(Numbers{0.3, -0.4}, unknown), std::sqrt(0.125));
  EXPECT_EQ(distance_unit(unknown).scale, 100);
}

TEST(EnsembleDistance, OfAnEnsembleIsThatOfItsMean) {
  const EnsembleLearningCurve curve = testing::learning_curve_of(
      {testing::straight(0, 10, 0.4, 0), testing::straight(0, 10, -0.2, 0)}, 0.1);
  EXPECT_NEAR(distances(curve).front(), 1, 1e-6);  // residual 0.1
  EXPECT_NEAR(spreads(curve).front(), 3, 1e-6);    // deviation 0.3
  EXPECT_NEAR(distances(curve)[5], 0.5, 1e-6);
  EXPECT_NEAR(distances(curve).back(), 0, 1e-6);
}

}  // namespace
}  // namespace sagips::analysis
