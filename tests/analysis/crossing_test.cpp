#include "sagips/analysis/convergence/crossing.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/learning_curves.hpp"

namespace sagips::analysis {
namespace {

using testing::learning_curve_of;
using testing::straight;
using Numbers = std::vector<double>;

TEST(Crossing, IsWhereTheLeadIsLost) {
  const Crossing found = crossing(Numbers{0, 10}, Numbers{1, 1}, Numbers{3, 0});
  EXPECT_EQ(found.meeting, Meeting::crosses);
  EXPECT_NEAR(found.time_s, 20.0 / 3, 1e-12);
}

TEST(Crossing, IsTheLastOneOfSeveral) {
  // leads of 1, -1, 1, -3
  const Crossing found = crossing(Numbers{0, 1, 2, 3}, Numbers{1, 3, 1, 4}, Numbers{2, 2, 2, 1});
  EXPECT_EQ(found.meeting, Meeting::crosses);
  EXPECT_NEAR(found.time_s, 2.25, 1e-12);
}

TEST(Crossing, IsNoneForALeadKeptOrNeverHad) {
  EXPECT_EQ(crossing(Numbers{0, 1, 2}, Numbers{3, 1, 1}, Numbers{2, 2, 2}).meeting,
            Meeting::stays_below);
  EXPECT_EQ(crossing(Numbers{0, 1}, Numbers{3, 3}, Numbers{2, 1}).meeting, Meeting::never_below);
  EXPECT_EQ(crossing(Numbers{0, 1}, Numbers{2, 2}, Numbers{2, 2}).meeting, Meeting::never_below);
  EXPECT_EQ(crossing({}, {}, {}).meeting, Meeting::not_comparable);
}

// The one-rank ensemble comes down from 1 to 0 in 10 s, the other one stays at 0.5.
TEST(SuggestedStop, IsWhereTheCurvesOfTheEnsemblesCross) {
  const EnsembleLearningCurve one =
      learning_curve_of({straight(0, 10, 1, 0), straight(0, 10, 1, 0)});
  const EnsembleLearningCurve several =
      learning_curve_of({straight(0, 10, 0.5, 0.5), straight(0, 10, 0.5, 0.5)});
  const SuggestedStop stop = suggested_stop(several, one, 50);
  EXPECT_EQ(stop.crossing.meeting, Meeting::crosses);
  EXPECT_NEAR(stop.crossing.time_s, 5, 1e-5);
  EXPECT_EQ(stop.share, 1);  // members that do not differ leave no uncertainty
  EXPECT_NEAR(stop.low_s, 5, 1e-5);
  EXPECT_NEAR(stop.high_s, 5, 1e-5);
}

// Members at 0.4 and 0.6: redrawn ensembles stand at 0.4 (a quarter of them), 0.5 or 0.6 (a quarter),
// so the central 68 % reach from 4 s to 6 s, unless fewer than 15.9 % of 300 draws give one of these:
// 3.6 deviations below 25 %, a chance of 2e-4 each; the seed is fixed.
TEST(SuggestedStop, HasTheUncertaintyOfRedrawnMembers) {
  const EnsembleLearningCurve one =
      learning_curve_of({straight(0, 10, 1, 0), straight(0, 10, 1, 0)});
  const EnsembleLearningCurve several =
      learning_curve_of({straight(0, 10, 0.4, 0.4), straight(0, 10, 0.6, 0.6)});
  const SuggestedStop stop = suggested_stop(several, one);
  EXPECT_NEAR(stop.crossing.time_s, 5, 1e-5);
  EXPECT_EQ(stop.redrawn, 300u);
  EXPECT_NEAR(stop.low_s, 4, 1e-5);
  EXPECT_NEAR(stop.high_s, 6, 1e-5);
}

TEST(SuggestedStop, LooksOnlyAtTheTimeThatBothTrained) {
  // Several ranks end at 4 s, still nearer: that one rank gets below later says nothing about them.
  const EnsembleLearningCurve one = learning_curve_of({straight(0, 10, 1, 0)});
  const EnsembleLearningCurve several = learning_curve_of({straight(1, 4, 0.5, 0.5)});
  const SuggestedStop stop = suggested_stop(several, one);
  EXPECT_EQ(stop.crossing.meeting, Meeting::stays_below);
  EXPECT_EQ(stop.crossing.time_s, 4);
  EXPECT_EQ(stop.redrawn, 0u);  // one member alone does not vary
}

TEST(SuggestedStop, IsNoneForTrainingsThatDoNotOverlapInTime) {
  const EnsembleLearningCurve one = learning_curve_of({straight(5, 10, 1, 0)});
  const EnsembleLearningCurve several = learning_curve_of({straight(1, 4, 0.1, 0.1)});
  EXPECT_EQ(suggested_stop(several, one).crossing.meeting, Meeting::not_comparable);
}

}  // namespace
}  // namespace sagips::analysis
