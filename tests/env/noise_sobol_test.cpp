#include "sagips/env/noise/noise_sobol.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sagips/core/error.hpp"
#include "tests/env/noise_of.hpp"

namespace sagips::env {
namespace {

using testing::largest;

SobolNoise sobol(std::int64_t events, std::int64_t dimensions, std::uint64_t seed = 1) {
  return SobolNoise(events, dimensions, core::RandomStream(seed, "test"));
}

// How many of the boxes of 2^a by 2^b equal intervals hold a point.
std::size_t boxes_hit(const torch::Tensor& x, const torch::Tensor& y, int a, int b) {
  std::set<std::int64_t> boxes;
  const torch::Tensor box = (x * std::exp2(a)).floor() * std::exp2(b) + (y * std::exp2(b)).floor();
  for (std::int64_t i = 0; i < box.size(0); ++i)
    boxes.insert(static_cast<std::int64_t>(box[i].item<double>()));
  return boxes.size();
}

// Any scramble keeps this property of the first two dimensions, and no random numbers have it: 64
// of them in 64 boxes hit all with probability 64! / 64^64 = 3e-27.
TEST(SobolNoise, PutsOneOf64PointsOfEachSampleInEveryElementaryBox) {
  const SobolNoise noise = sobol(64, 2);
  const torch::Tensor x = noise.uniform(3, 5, 64, 0, torch::kFloat64);
  const torch::Tensor y = noise.uniform(3, 5, 64, 1, torch::kFloat64);
  for (std::int64_t sample = 0; sample < 5; ++sample)
    for (int a = 0; a <= 6; ++a) EXPECT_EQ(boxes_hit(x[sample], y[sample], a, 6 - a), 64U) << a;
}

TEST(SobolNoise, SpreadsEveryDimensionEvenly) {
  const SobolNoise noise = sobol(256, 40);
  for (std::int64_t d = 0; d < 40; ++d) {
    const torch::Tensor x = noise.uniform(0, 1, 256, d, torch::kFloat64)[0];
    EXPECT_EQ(boxes_hit(x, x, 8, 0), 256U) << d;
  }
}

// Each sample's first point is its shift alone: uniform. 10,000 of them in 20 intervals; the
// pull is beyond 5 with probability 5.7e-7.
TEST(SobolNoise, GivesEachSampleAShiftOfItsOwn) {
  const torch::Tensor first = sobol(4, 3).uniform(0, 10000, 4, 2, torch::kFloat32).select(1, 0);
  const torch::Tensor counts = torch::histc(first, 20, 0, 1);
  const double sum = ((counts - 500).square() / 500).sum().item<double>();
  EXPECT_LT(std::abs(testing::chi_square_pull(sum, 19)), 5);
}

TEST(SobolNoise, DependsOnTheSamplesNumberNotOnTheCall) {
  const SobolNoise noise = sobol(100, 3);
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const torch::Tensor all = noise.uniform(0, 8, 100, 1, type);
    EXPECT_EQ(all.scalar_type(), type);
    EXPECT_TRUE(torch::equal(noise.uniform(5, 3, 100, 1, type), all.narrow(0, 5, 3)));
    EXPECT_TRUE(
        torch::equal(noise.uniform(5, 3, 40, 1, type), all.narrow(0, 5, 3).narrow(1, 0, 40)));
  }
}

TEST(SobolNoise, StaysInsideTheOpenInterval) {
  const SobolNoise noise = sobol(std::int64_t{1} << 20, 1);
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const torch::Tensor numbers = noise.uniform(0, 1, std::int64_t{1} << 20, 0, type);
    EXPECT_GT(numbers.min().item<double>(), 0);
    EXPECT_LT(numbers.max().item<double>(), 1);
    EXPECT_TRUE(torch::isfinite(torch::special_ndtri(numbers)).all().item<bool>());
  }
}

TEST(SobolNoise, IsScrambledOtherwiseForAnotherSeedOrStep) {
  const auto relative = [](const SobolNoise& noise) {
    // distances of points do not see the shift, as far as it goes digit by digit
    return (noise.uniform(0, 1, 64, 3, torch::kFloat64) * 0x1p30).to(torch::kInt64);
  };
  const auto without_shift = [&](const SobolNoise& noise) {
    const torch::Tensor points = relative(noise);
    return points.bitwise_xor(points.select(1, 0).unsqueeze(1));
  };
  const torch::Tensor one = without_shift(sobol(64, 4));
  EXPECT_TRUE(torch::equal(one, without_shift(sobol(64, 4))));
  EXPECT_FALSE(torch::equal(one, without_shift(sobol(64, 4, 2))));
  EXPECT_FALSE(
      torch::equal(one, without_shift(SobolNoise(64, 4, core::RandomStream(1, "test", 7)))));
}

// The mean of x^2 y over 1024 points: random numbers scatter by 0.0066 between samples; a scrambled
// net by far less. The bar is a tenth of it.
TEST(SobolNoise, MakesMeansScatterLessThanRandomNumbers) {
  const SobolNoise noise = sobol(1024, 2);
  const torch::Tensor x = noise.uniform(0, 200, 1024, 0, torch::kFloat64);
  const torch::Tensor y = noise.uniform(0, 200, 1024, 1, torch::kFloat64);
  const torch::Tensor means = (x.square() * y).mean(1);
  EXPECT_LT(means.std().item<double>(), 0.00066);
  EXPECT_NEAR(means.mean().item<double>(), 1.0 / 6, 0.0003);
}

TEST(SobolNoise, RefusesWhatItWasNotMadeFor) {
  const SobolNoise noise = sobol(10, 2);
  EXPECT_THROW(noise.uniform(0, 1, 10, 2, torch::kFloat32), core::StateError);
  EXPECT_THROW(noise.uniform(0, 1, 11, 0, torch::kFloat32), core::StateError);
  EXPECT_THROW(sobol(10, 30000), core::ConfigError);
  EXPECT_THROW(sobol((std::int64_t{1} << 30) + 1, 1), core::ConfigError);
}

TEST(CommonNoise, GivesEverySampleTheSameNumbers) {
  const auto source = std::make_shared<PhiloxNoise>(core::RandomStream(1, "test"));
  Noise noise(std::make_shared<CommonNoise>(source), 3, 5, 7);
  const torch::Tensor expected = source->uniform(0, 1, 5, 0, torch::kFloat32);
  EXPECT_TRUE(torch::equal(noise.uniform(), expected.expand({3, 5})));
  EXPECT_TRUE(
      torch::equal(noise.uniform(), source->uniform(0, 1, 5, 1, torch::kFloat32).expand({3, 5})));
}

}  // namespace
}  // namespace sagips::env
