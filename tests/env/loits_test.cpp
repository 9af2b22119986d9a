#include "sagips/env/samplers/loits.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/env/noise_of.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

Plane small_plane() { return {{.points = 5}, {.low = 0, .high = 2, .points = 4}}; }

// 1 + 3 x y. shape: [samples, 5, 4]
Events table_of(std::int64_t samples, const torch::Tensor& slope = torch::tensor(3.0F)) {
  const Plane plane = small_plane();
  const torch::Tensor product = plane.x().positions().view({-1, 1}) * plane.y().positions();
  Events density;
  density.values = (product.to(torch::kFloat32) * slope + 1).expand({samples, 5, 4});
  return density;
}

torch::Tensor cells_of(const torch::Tensor& events) {
  const torch::Tensor x = (events.select(-1, 0) * 4).floor().clamp_max(3);
  const torch::Tensor y = (events.select(-1, 1) * 1.5).floor().clamp_max(2);
  return (x * 3 + y).to(torch::kInt64);
}

torch::Tensor expected_share() {
  const Plane plane = small_plane();
  const torch::Tensor mass = plane.cells(table_of(1).values.to(torch::kFloat64)).flatten();
  return mass / mass.sum();
}

// Chi-square of 1e6 events over 12 cells; beyond 5 deviations with probability 5.7e-7.
TEST(Loits, DrawsCellsByTheirMass) {
  Noise noise = noise_of(3, 1000, 1000);
  const Events drawn = Loits(small_plane(), Loits::Counts::multinomial)(table_of(1000), noise);
  EXPECT_FALSE(drawn.mask);
  EXPECT_EQ(noise.dimensions(), 3);
  const torch::Tensor counts = torch::bincount(cells_of(drawn.values.flatten(0, 1)), {}, 12);
  const torch::Tensor expected = expected_share() * 1e6;
  const double sum = ((counts - expected).square() / expected).sum().item<double>();
  EXPECT_LT(chi_square_pull(sum, 11), 5);
}

TEST(Loits, GivesEachCellItsExpectedNumberRoundedDown) {
  Noise noise = noise_of(3, 2, 1000);
  const Events drawn = Loits(small_plane(), Loits::Counts::truncated)(table_of(2), noise);
  EXPECT_EQ(noise.dimensions(), 2);
  ASSERT_TRUE(drawn.mask);
  const auto [rows, weights] = drawn.rows();
  const torch::Tensor expected = torch::floor(expected_share() * 1000) * 2;
  EXPECT_TRUE(torch::equal(torch::bincount(cells_of(rows), {}, 12).to(torch::kFloat64), expected));
  EXPECT_LT(rows.size(0), 2000) << "rounding down leaves some out";
  EXPECT_GE(rows.size(0), 2000 - 2 * 12);
  EXPECT_TRUE(torch::isfinite(drawn.values).all().item<bool>());
}

// Mean of x over 1e6 events: density along x is 1 + 3 x (y integrated over 0 .. 2), cells are small
// enough for a linear density to be exact but for ten points' interpolation. Within 5 errors.
TEST(Loits, FollowsTheDensityInsideTheCells) {
  Noise noise = noise_of(4, 1000, 1000);
  const Events drawn = Loits(small_plane(), Loits::Counts::multinomial)(table_of(1000), noise);
  const torch::Tensor x = drawn.values.select(2, 0).to(torch::kFloat64);
  // E[x] = (1/2 + 3/3) / (1 + 3/2) = 0.6
  EXPECT_NEAR(x.mean().item<double>(), 0.6, 5 * x.std().item<double>() / 1e3 + 1e-4);
}

// The comment's warning, as a number: the gradient of the mean of x is far from the whole one.
TEST(Loits, KnowsOnlyTheGradientWithinCells) {
  const torch::Tensor slope = torch::tensor(3.0F).requires_grad_();
  Noise noise = noise_of(4, 400, 1000);
  const Events drawn =
      Loits(small_plane(), Loits::Counts::multinomial)(table_of(400, slope), noise);
  const double found =
      torch::autograd::grad({drawn.values.select(2, 0).mean()}, {slope})[0].item<double>();
  // E[x] = (1/2 + s/3) / (1 + s/2), its derivative at 3 is (1/3 - 1/4) / 2.5^2
  const double whole = (1.0 / 3 - 0.25) / 6.25;
  EXPECT_GT(found, 0);
  EXPECT_LT(found, 0.5 * whole);
}

}  // namespace
}  // namespace sagips::env
