#include "sagips/comm/arithmetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace sagips::comm {
namespace {

// Sums of these are exact in single precision.
std::vector<float> whole_numbers(std::size_t size, int seed) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i)
    values[i] = static_cast<float>((static_cast<int>(i) * 37 + seed * 101) % 211);
  return values;
}

TEST(Arithmetic, AddsElementByElement) {
  std::vector<float> values{1, 2, 3};
  add(values, std::vector<float>{10, 20, 30});
  EXPECT_EQ(values, (std::vector<float>{11, 22, 33}));
}

TEST(Arithmetic, ScalesEveryElement) {
  std::vector<float> values{1, -2, 3};
  scale(values, 0.5F);
  EXPECT_EQ(values, (std::vector<float>{0.5F, -1, 1.5F}));
}

double nearest(double value, int bits, int lowest) {
  if (value == 0) return 0;
  const int exponent = std::max(std::ilogb(value), lowest);
  const double step = std::ldexp(1.0, exponent - bits + 1);
  return std::nearbyint(value / step) * step;  // ties to even
}

TEST(Arithmetic, RoundsToHalvesAsIeee754) {
  std::vector<float> values{0.0F,       -0.0F,    1.0F,         -2.5F,     65504.0F,
                            65519.0F,   0x1p-14F, 0x1.ffcp-15F, 0x1p-24F,  0x1p-25F,
                            0x1.8p-24F, 1e-10F,   0x1.002p0F,   0x1.006p0F};
  for (int i = 0; i < 5000; ++i)
    values.push_back(
        std::ldexp(static_cast<float>((i * 7919) % 20011 - 10000) / 9973.0F, i % 38 - 24));
  std::vector<std::uint16_t> halves(values.size());
  std::vector<float> found(values.size());
  to_halves(HalfFormat::float16, values, halves);
  from_halves(HalfFormat::float16, halves, found);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(found[i], nearest(values[i], 11, -14)) << values[i];
    EXPECT_EQ(std::signbit(found[i]), std::signbit(values[i]));
  }
  to_halves(HalfFormat::bfloat16, values, halves);
  from_halves(HalfFormat::bfloat16, halves, found);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(found[i], nearest(values[i], 8, -126));
}

TEST(Arithmetic, KeepsEveryHalfAndStopsAtTheLargest) {
  std::vector<std::uint16_t> halves;
  for (std::uint32_t bits = 0; bits < 0x7c00 + 8 * 112; ++bits) {
    halves.push_back(static_cast<std::uint16_t>(bits));
    halves.push_back(static_cast<std::uint16_t>(bits | 0x8000));
  }
  std::vector<float> wide(halves.size());
  std::vector<std::uint16_t> again(halves.size());
  from_halves(HalfFormat::float16, halves, wide);
  to_halves(HalfFormat::float16, wide, again);
  EXPECT_EQ(again, halves);
  const std::vector<float> large{65519, 65521, 1e6F, -1e30F, std::numeric_limits<float>::max()};
  std::vector<float> found(large.size());
  halves.resize(large.size());
  to_halves(HalfFormat::float16, large, halves);
  from_halves(HalfFormat::float16, halves, found);
  EXPECT_EQ(found[0], 65504);
  for (const std::size_t i : {1U, 2U, 3U}) EXPECT_EQ(found[i], nearest(large[i], 4, 16)) << i;
  EXPECT_EQ(found[4], 0x1.ep127F);
  to_halves(HalfFormat::bfloat16, large, halves);
  from_halves(HalfFormat::bfloat16, halves, found);
  EXPECT_EQ(found[4], 0x1.fep127F);
}

TEST(Arithmetic, TakesTheMeanOfOneToFiveArraysAcrossBlocks) {
  for (const std::size_t size : {0U, 1U, 1023U, 1024U, 1025U, 5000U})
    for (int count : {1, 2, 4, 5}) {
      std::vector<std::vector<float>> arrays;
      std::vector<const float*> parts;
      for (int k = 0; k < count; ++k) arrays.push_back(whole_numbers(size, k));
      for (const auto& array : arrays) parts.push_back(array.data());
      std::vector<float> mean(size, -1.0F);
      mean_of(parts, mean);
      for (std::size_t i = 0; i < size; ++i) {
        float sum = 0;
        for (const auto& array : arrays) sum += array[i];
        ASSERT_EQ(mean[i], sum * (1.0F / static_cast<float>(count))) << size << " " << count;
      }
    }
}

TEST(Arithmetic, TakesTheMeanIntoAnyOfItsParts) {
  constexpr std::size_t size = 3000;
  for (std::size_t into = 0; into < 3; ++into) {
    std::vector<std::vector<float>> arrays;
    for (int k = 0; k < 3; ++k) arrays.push_back(whole_numbers(size, k));
    const auto before = arrays;
    mean_of(std::vector<const float*>{arrays[0].data(), arrays[1].data(), arrays[2].data()},
            arrays[into]);
    for (std::size_t i = 0; i < size; ++i)
      ASSERT_EQ(arrays[into][i], (before[0][i] + before[1][i] + before[2][i]) * (1.0F / 3.0F));
  }
}

TEST(Arithmetic, AddsInTheOrderOfTheParts) {
  const std::vector<float> large{1e8F}, minus{-1e8F}, one{1};
  std::vector<float> mean(1);
  mean_of(std::vector<const float*>{large.data(), minus.data(), one.data()}, mean);
  EXPECT_EQ(mean[0], 1.0F / 3.0F);
  mean_of(std::vector<const float*>{large.data(), one.data(), minus.data()}, mean);
  EXPECT_EQ(mean[0], 0.0F) << "the one is lost in the rounding of the first sum";
}

}  // namespace
}  // namespace sagips::comm
