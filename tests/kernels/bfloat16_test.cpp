#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/kernels/products.hpp"
#include "sagips/kernels/products_found.hpp"
#include "tests/kernels/numbers.hpp"
#include "tests/kernels/shapes.hpp"

namespace sagips::kernels {
namespace {

using testing::numbers;

// All, and some that end within, at and behind blocks of 32.
const std::vector<testing::Shape> shapes = [] {
  std::vector<testing::Shape> all = testing::product_shapes;
  all.insert(all.end(), {{33, 31, 32}, {128, 33, 128}, {48, 130, 65}, {128, 512, 128}});
  return all;
}();

// Two products of at most 512 terms below 1, summed in float32: 1024 times 2^-24 of a sum that random
// signs keep below 60 could come to 4e-3, but roundings are random, too: sqrt(1024) 60 2^-24 = 1.1e-4.
constexpr double accumulation = 1.2e-4;

// 8 bits of mantissa: a factor is off by at most 2^-8 of itself, a product by (1 + 2^-8)^2 - 1.
constexpr double relative_error = 2 * 0x1p-8 + 0x1p-16;

/// The nearest bfloat16, in arithmetic that has nothing in common with what is tested.
double rounded(float value) {
  int exponent;
  const double mantissa = std::frexp(static_cast<double>(value), &exponent);  // 0.5 .. 1
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
}

/// A sum of products: exact, of the rounded factors, and of the moduli.
struct Sums {
  double exact = 0, of_rounded = 0, moduli = 0;

  void add(float a, float b) {
    const double product = static_cast<double>(a) * static_cast<double>(b);
    exact += product;
    of_rounded += rounded(a) * rounded(b);
    moduli += std::abs(product);
  }
};

std::size_t at(std::int64_t row, std::int64_t columns, std::int64_t column) {
  return static_cast<std::size_t>(row * columns + column);
}

using Find = std::shared_ptr<const Products> (*)();

class EachBfloat16 : public ::testing::TestWithParam<std::pair<const char*, Find>> {
 protected:
  void SetUp() override {
    if (!library_) GTEST_SKIP() << "this processor has no " << GetParam().first << " for bfloat16";
  }
  /// A number as the products see it.
  float seen(float value) const {
    const float one = 1;
    float result = 7;
    library_->multiply(1, 1, 1)(&value, &one, &result);
    float mirrored = 7;
    library_->multiply(1, 1, 1)(&one, &value, &mirrored);
    EXPECT_EQ(std::isnan(result), std::isnan(mirrored)) << value;
    if (!std::isnan(result)) {
      EXPECT_EQ(result, mirrored) << value;
    }
    return result;
  }
  const std::shared_ptr<const Products> library_ = GetParam().second();
};

TEST_P(EachBfloat16, MultipliesMatricesOfAnyShape) {
  for (const auto& [rows, depth, columns] : shapes) {
    const auto a = numbers(rows * depth, 1), b = numbers(depth * columns, 2);
    std::vector<float> c(static_cast<std::size_t>(rows * columns) + 1, 7.0F);
    library_->multiply(rows, depth, columns)(a.data(), b.data(), c.data());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        Sums sums;
        for (std::int64_t k = 0; k < depth; ++k) sums.add(a[at(i, depth, k)], b[at(k, columns, j)]);
        const double result = c[at(i, columns, j)];
        ASSERT_NEAR(result, sums.of_rounded, accumulation)
            << rows << " x " << depth << " x " << columns << " at " << i << ", " << j;
        ASSERT_NEAR(result, sums.exact, relative_error * sums.moduli + accumulation);
      }
    EXPECT_EQ(c.back(), 7.0F) << "wrote behind its end";
  }
}

TEST_P(EachBfloat16, MultipliesByAPackedMatrixAsByTheMatrix) {
  for (const auto& [rows, depth, columns] : shapes) {
    const auto a = numbers(rows * depth, 1), b = numbers(depth * columns, 2);
    const auto floats = static_cast<std::size_t>(library_->packed_floats(depth, columns));
    std::vector<float> packed(floats + 1, 7.0F);
    library_->pack(depth, columns, b.data(), packed.data());
    EXPECT_EQ(packed.back(), 7.0F) << "wrote behind its end";
    std::vector<float> expected(static_cast<std::size_t>(rows * columns)), result = expected;
    library_->multiply(rows, depth, columns)(a.data(), b.data(), expected.data());
    library_->multiply_packed(rows, depth, columns)(a.data(), packed.data(), result.data());
    EXPECT_EQ(result, expected) << rows << " x " << depth << " x " << columns;
  }
}

TEST_P(EachBfloat16, AddsProductsOfATransposedMatrix) {
  for (const auto& [rows, depth, columns] : shapes) {
    const auto a = numbers(depth * rows, 3), b = numbers(depth * columns, 4);
    std::vector<float> c(static_cast<std::size_t>(rows * columns) + 1, 0.5F);
    const auto add = library_->accumulate(depth, rows, columns);
    add(a.data(), b.data(), c.data());
    add(a.data(), b.data(), c.data());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        Sums sums;
        for (std::int64_t k = 0; k < depth; ++k) sums.add(a[at(k, rows, i)], b[at(k, columns, j)]);
        const double result = c[at(i, columns, j)];
        ASSERT_NEAR(result, 0.5 + 2 * sums.of_rounded, accumulation)
            << rows << " x " << depth << " x " << columns << " at " << i << ", " << j;
        ASSERT_NEAR(result, 0.5 + 2 * sums.exact, 2 * relative_error * sums.moduli + accumulation);
      }
    EXPECT_EQ(c.back(), 0.5F) << "wrote behind its end";
  }
}

TEST_P(EachBfloat16, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(seen(1.0F), 1.0F);
  EXPECT_EQ(seen(1 + 0x1p-8F), 1.0F) << "a tie goes to the even neighbour below";
  EXPECT_EQ(seen(1 + 0x3p-8F), 1 + 0x1p-6F) << "a tie goes to the even neighbour above";
  EXPECT_EQ(seen(std::nextafter(1 + 0x1p-8F, 2.0F)), 1 + 0x1p-7F);
  EXPECT_EQ(seen(std::nextafter(1 + 0x3p-8F, 1.0F)), 1 + 0x1p-7F);
  EXPECT_EQ(seen(-1 - 0x1p-8F), -1.0F);
  EXPECT_EQ(seen(-1 - 0x3p-8F), -1 - 0x1p-6F);
  for (const float value : numbers(200, 5))
    EXPECT_EQ(static_cast<double>(seen(value)), rounded(value)) << value;
}

TEST_P(EachBfloat16, KeepsWhatIsNoOrdinaryNumber) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(seen(0.0F), 0.0F);
  EXPECT_EQ(seen(-0.0F), 0.0F);
  EXPECT_EQ(seen(infinity), infinity);
  EXPECT_EQ(seen(-infinity), -infinity);
  EXPECT_EQ(seen(std::numeric_limits<float>::max()), infinity) << "nearer than 2^128 (1 - 2^-8)";
  EXPECT_EQ(seen(std::numeric_limits<float>::min()), std::numeric_limits<float>::min());
  EXPECT_EQ(seen(std::numeric_limits<float>::denorm_min()), 0.0F);
  // Quiet, signalling, and with bits only where rounding cuts them off.
  for (const std::uint32_t bits : {0x7fc00000U, 0xffc00000U, 0x7fa00000U, 0x7f800001U, 0x7fffffffU})
    EXPECT_TRUE(std::isnan(seen(std::bit_cast<float>(bits)))) << std::hex << bits;
}

// Blocks are filled up with zeros: an infinite neighbour must not make them NaN.
TEST_P(EachBfloat16, KeepsInfinityInItsRow) {
  constexpr std::int64_t rows = 5, depth = 3, columns = 4;
  auto a = numbers(rows * depth, 6);
  const std::vector<float> b(static_cast<std::size_t>(depth * columns), 1.0F);
  a[at(2, depth, 1)] = std::numeric_limits<float>::infinity();
  std::vector<float> c(static_cast<std::size_t>(rows * columns));
  library_->multiply(rows, depth, columns)(a.data(), b.data(), c.data());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      EXPECT_EQ(std::isfinite(c[at(i, columns, j)]), i != 2) << i << ", " << j;
}

TEST_P(EachBfloat16, ServesSeveralThreadsAtOnce) {
  const auto a = numbers(128L * 128, 7), b = numbers(128L * 128, 8);
  const auto multiply = library_->multiply(32, 128, 128);
  const auto add = library_->accumulate(128, 128, 128);
  std::vector<float> product(32UL * 128), sum(128UL * 128);
  multiply(a.data(), b.data(), product.data());
  add(a.data(), b.data(), sum.data());
  struct Result {
    std::vector<float> product = std::vector<float>(32UL * 128), sum;
  };
  std::vector<Result> results(3);
  std::vector<std::thread> threads;
  for (auto& result : results)
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 20; ++repeat) {
        multiply(a.data(), b.data(), result.product.data());
        result.sum.assign(128UL * 128, 0.0F);
        add(a.data(), b.data(), result.sum.data());
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) {
    EXPECT_EQ(result.product, product);
    EXPECT_EQ(result.sum, sum);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Products, EachBfloat16,
    ::testing::Values(std::pair<const char*, Find>{"amx", amx_bfloat16_products},
                      std::pair<const char*, Find>{"avx512", avx512_bfloat16_products}),
    [](const auto& given) { return std::string(given.param.first); });

TEST(Bfloat16, IsNotAmongTheLibrariesForFloat32) {
  for (const auto& name : available_products())
    EXPECT_EQ(name.find("bfloat16"), std::string::npos) << name;
}

TEST(Products, InFloat32TakeAPackedMatrixToo) {
  for (const auto& name : available_products()) {
    const auto library = products(name);
    const auto a = numbers(32L * 5, 9), b = numbers(5L * 7, 10);
    std::vector<float> packed(static_cast<std::size_t>(library->packed_floats(5, 7)));
    library->pack(5, 7, b.data(), packed.data());
    std::vector<float> expected(32UL * 7), result = expected;
    library->multiply(32, 5, 7)(a.data(), b.data(), expected.data());
    library->multiply_packed(32, 5, 7)(a.data(), packed.data(), result.data());
    EXPECT_EQ(result, expected) << name;
  }
}

TEST(Bfloat16, IsThereOrSaysWhatIsMissing) {
  if (bfloat16_products()) {
    EXPECT_NE(products_in_bfloat16("dense.precision"), nullptr);
    return;
  }
  try {
    products_in_bfloat16("dense.precision");
    FAIL() << "no error";
  } catch (const core::ConfigError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("dense.precision"), std::string::npos) << message;
    EXPECT_NE(message.find("AVX512_BF16"), std::string::npos) << message;
    EXPECT_NE(message.find("dense.precision=float32"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace sagips::kernels
