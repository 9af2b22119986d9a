#include "sagips/optim/adversarial/told_apart.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sagips::optim {
namespace {

constexpr std::int64_t rows = 800;

torch::Tensor normal(std::uint64_t seed) {
  return torch::randn({rows, 4}, torch::make_generator<at::CPUGeneratorImpl>(seed),
                      torch::kFloat64);
}

double area(const torch::Tensor& real, const torch::Tensor& made) {
  return area_told_apart({real, made}, core::RandomStream(1, "test"));
}

// 400 rows a side are judged: 0.5 +- 0.020, and 4.5 deviations are a false alarm in 150,000.
TEST(ToldApart, OfOneOriginIsHalf) {
  EXPECT_NEAR(area(normal(1), normal(2)), 0.5, 4.5 * std::sqrt(1 / (6.0 * 400)));
  EXPECT_EQ(area(normal(1), normal(1)), 0.5);
}

// Means one deviation apart: Phi(1 / sqrt(2)) = 0.7602 for the best classifier there is, +- 0.017.
TEST(ToldApart, OfTwoOriginsIsTheirDistance) {
  torch::Tensor shifted = normal(2);
  shifted.select(1, 2) += 1;
  const double found = area(normal(1), shifted);
  EXPECT_LT(found, 0.7602 + 4.5 * 0.017);
  EXPECT_GT(found, 0.7602 - 0.06 - 4.5 * 0.017)
      << "it learns from 400 rows, not from all there are";
  EXPECT_GT(area(normal(1), 1e6 + normal(2)), 0.9999);
}

// 0.1 has no exact mean in floating-point numbers.
TEST(ToldApart, NumbersThatDoNotVarySayNothing) {
  torch::Tensor real = normal(1), made = normal(2);
  real.select(1, 3) = 0.1, made.select(1, 3) = 0.1;
  EXPECT_NEAR(area(real, made), 0.5, 4.5 * std::sqrt(1 / (6.0 * 400)));
  EXPECT_TRUE(std::isnan(area(real.slice(0, 0, 3), made.slice(0, 0, 3))));
}

}  // namespace
}  // namespace sagips::optim
