#include "sagips/analysis/histogram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sagips/core/error.hpp"

namespace sagips::analysis {
namespace {

TEST(Histogram, CountsLowerEdgesInAndUpperEdgesOut) {
  Histogram histogram(0, 3, 3);
  for (const double value : {0.0, 0.5, 1.0, 2.0, 2.9}) histogram.fill(value);
  EXPECT_EQ(histogram.content(0), 2);
  EXPECT_EQ(histogram.content(1), 1);
  EXPECT_EQ(histogram.content(2), 2);
}

TEST(Histogram, CountsTheLastEdgeIn) {
  Histogram histogram(0, 3, 3);
  histogram.fill(3.0);
  EXPECT_EQ(histogram.content(2), 1);
}

TEST(Histogram, PutsEveryEdgeIntoTheBinThatItOpens) {
  for (const std::size_t bins : {7u, 10u, 80u, 1000u}) {
    Histogram histogram(0.1, 0.99999, bins);
    for (std::size_t i = 0; i < bins; ++i) histogram.fill(histogram.edge(i));
    for (std::size_t i = 0; i < bins; ++i) EXPECT_EQ(histogram.content(i), 1) << bins << " " << i;
  }
}

TEST(Histogram, KnowsItsEdges) {
  const Histogram histogram(70, 110, 80);
  EXPECT_EQ(histogram.bins(), 80u);
  EXPECT_DOUBLE_EQ(histogram.edge(0), 70);
  EXPECT_DOUBLE_EQ(histogram.edge(80), 110);
  EXPECT_DOUBLE_EQ(histogram.width(), 0.5);
  EXPECT_DOUBLE_EQ(histogram.centre(1), 70.75);
}

TEST(Histogram, KeepsCountOfWhatLiesOutside) {
  Histogram histogram(0, 1, 2);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {-0.1, -infinity, 1.1, infinity, 0.5}) histogram.fill(value);
  histogram.fill(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(histogram.content(0), 0);
  EXPECT_EQ(histogram.content(1), 1);
  EXPECT_EQ(histogram.total(), 5) << "all but NaN";
}

TEST(Histogram, AddsWeightsAndTheirSquares) {
  Histogram histogram(0, 1, 1);
  histogram.fill(std::vector<double>{0.5, 0.5, 2}, std::vector<double>{3, 4, 10});
  EXPECT_EQ(histogram.content(0), 7);
  EXPECT_EQ(histogram.error(0), 5);
  EXPECT_EQ(histogram.total(), 17);
  EXPECT_THROW(histogram.fill(std::vector<double>{1}, std::vector<double>{}), core::Error);
}

TEST(Histogram, HasPoissonErrorsWithoutWeights) {
  Histogram histogram(0, 1, 1);
  histogram.fill(std::vector<double>(16, 0.25));
  EXPECT_EQ(histogram.error(0), 4);
}

TEST(Histogram, ScalesContentsErrorsAndWhatLiesOutside) {
  Histogram histogram(0, 1, 1);
  histogram.fill(std::vector<double>{0.1, 0.2, 0.3, 0.4, -1, 5, 6});
  const Histogram half = histogram.scaled(0.5);
  EXPECT_EQ(half.content(0), 2);
  EXPECT_EQ(half.error(0), 1);
  EXPECT_EQ(half.total(), 3.5);
  EXPECT_EQ(histogram.total(), 7);
}

TEST(Histogram, RefusesARangeThatHoldsNothing) {
  EXPECT_THROW(Histogram(1, 1, 10), core::Error);
  EXPECT_THROW(Histogram(2, 1, 10), core::Error);
  EXPECT_THROW(Histogram(0, 1, 0), core::Error);
  EXPECT_THROW(Histogram(0, std::numeric_limits<double>::infinity(), 1), core::Error);
  EXPECT_THROW(Histogram(std::numeric_limits<double>::quiet_NaN(), 1, 1), core::Error);
}

}  // namespace
}  // namespace sagips::analysis
