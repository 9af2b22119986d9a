#include "sagips/analysis/residuals.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sagips/core/error.hpp"

namespace sagips::analysis {
namespace {

TEST(Residual, IsRelativeToTheTruth) {
  EXPECT_DOUBLE_EQ(residual(2.0, 1.5), 0.25);
  EXPECT_DOUBLE_EQ(residual(2.0, 3.0), -0.5);
}

TEST(Residual, KeepsItsSenseForNegativeTruths) {
  // Too small a size gives a positive residual, whatever the sign of the truth.
  EXPECT_DOUBLE_EQ(residual(-0.5, -0.4), 0.2);
  EXPECT_DOUBLE_EQ(residual(-0.5, -0.6), -0.2);
}

TEST(Residual, HasNoValueForATruthOfZero) {
  EXPECT_FALSE(std::isfinite(residual(0, 1)));
  EXPECT_FALSE(std::isfinite(residual(0, 0)));
}

TEST(Predict, GivesMeanAndSpreadOfEachColumn) {
  // Columns 1, 3, 5 and 2, 2, 2: squared distances 4 + 0 + 4, over n = 3.
  const std::vector<float> samples{1, 2, 3, 2, 5, 2};
  const auto predictions = predict(samples, 2);
  ASSERT_EQ(predictions.size(), 2u);
  EXPECT_DOUBLE_EQ(predictions[0].mean, 3);
  EXPECT_DOUBLE_EQ(predictions[0].spread, std::sqrt(8.0 / 3));
  EXPECT_DOUBLE_EQ(predictions[1].mean, 2);
  EXPECT_DOUBLE_EQ(predictions[1].spread, 0);
}

TEST(Predict, ResolvesASpreadFarBelowTheMean) {
  // 1000 and its next float: a one-pass formula in single precision would lose the difference.
  const float next = std::nextafter(1000.0F, 2000.0F);
  const auto prediction = predict(std::vector<float>{1000.0F, next}, 1).front();
  EXPECT_NEAR(prediction.spread, (next - 1000.0F) / 2, 1e-12);
}

TEST(Predict, RefusesWhatIsNoFullTable) {
  EXPECT_THROW(predict(std::vector<float>{1, 2, 3}, 2), core::Error);
  EXPECT_THROW(predict(std::vector<float>{}, 2), core::Error);
  EXPECT_THROW(predict(std::vector<float>{1}, 0), core::Error);
}

TEST(EnsembleResponse, AveragesMembersAtEachNoiseVector) {
  const std::vector<std::vector<float>> members{{1, 10}, {3, 10}};
  const auto response = ensemble_response(members);
  EXPECT_EQ(response.mean, (std::vector<double>{2, 10}));
  EXPECT_EQ(response.spread, (std::vector<double>{1, 0}));
}

TEST(EnsembleResponse, OfOneMemberIsThatMember) {
  const std::vector<std::vector<float>> members{{0.5F, -2}};
  const auto response = ensemble_response(members);
  EXPECT_EQ(response.mean, (std::vector<double>{0.5, -2}));
  EXPECT_EQ(response.spread, (std::vector<double>{0, 0}));
}

TEST(EnsembleResponse, RefusesMembersThatDoNotMatch) {
  EXPECT_THROW(ensemble_response(std::vector<std::vector<float>>{{1, 2}, {1}}), core::Error);
  EXPECT_THROW(ensemble_response({}), core::Error);
}

}  // namespace
}  // namespace sagips::analysis
