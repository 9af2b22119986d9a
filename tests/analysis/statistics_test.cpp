#include "sagips/analysis/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sagips/core/error.hpp"

namespace sagips::analysis {
namespace {

using Numbers = std::vector<double>;

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
