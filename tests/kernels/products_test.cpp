#include "sagips/kernels/products.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "sagips/core/error.hpp"
#include "tests/kernels/numbers.hpp"
#include "tests/kernels/shapes.hpp"

namespace sagips::kernels {
namespace {

using testing::numbers;

// Sums of at most 300 terms below 1, rounded term by term: 300 x 6e-8 x the sum of moduli.
constexpr double bound = 2e-5;

class EachLibrary : public ::testing::TestWithParam<std::string> {
 protected:
  const std::shared_ptr<const Products> library_ = products(GetParam());
};

TEST_P(EachLibrary, MultipliesMatricesOfAnyShape) {
  for (const auto& [rows, depth, columns] : testing::product_shapes) {
    const auto a = numbers(rows * depth, 1), b = numbers(depth * columns, 2);
    std::vector<float> c(static_cast<std::size_t>(rows * columns) + 1, 7.0F);
    library_->multiply(rows, depth, columns)(a.data(), b.data(), c.data());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < depth; ++k)
          sum += static_cast<double>(a[static_cast<std::size_t>(i * depth + k)]) *
                 static_cast<double>(b[static_cast<std::size_t>(k * columns + j)]);
        ASSERT_NEAR(c[static_cast<std::size_t>(i * columns + j)], sum, bound)
            << rows << " x " << depth << " x " << columns << " at " << i << ", " << j;
      }
    EXPECT_EQ(c.back(), 7.0F) << "wrote behind its end";
  }
}

TEST_P(EachLibrary, AddsProductsOfATransposedMatrix) {
  for (const auto& [rows, depth, columns] : testing::product_shapes) {
    const auto a = numbers(depth * rows, 3), b = numbers(depth * columns, 4);
    std::vector<float> c(static_cast<std::size_t>(rows * columns), 0.5F);
    const auto add = library_->accumulate(depth, rows, columns);
    add(a.data(), b.data(), c.data());
    add(a.data(), b.data(), c.data());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < depth; ++k)
          sum += static_cast<double>(a[static_cast<std::size_t>(k * rows + i)]) *
                 static_cast<double>(b[static_cast<std::size_t>(k * columns + j)]);
        ASSERT_NEAR(c[static_cast<std::size_t>(i * columns + j)], 0.5 + 2 * sum, 2 * bound)
            << rows << " x " << depth << " x " << columns << " at " << i << ", " << j;
      }
  }
}

TEST_P(EachLibrary, ServesSeveralThreadsAtOnce) {
  const auto a = numbers(32L * 128, 5), b = numbers(128L * 128, 6);
  const auto multiply = library_->multiply(32, 128, 128);
  std::vector<float> expected(32UL * 128);
  multiply(a.data(), b.data(), expected.data());
  std::vector<std::vector<float>> results(3, std::vector<float>(32UL * 128));
  std::vector<std::thread> threads;
  for (auto& result : results)
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 20; ++repeat) multiply(a.data(), b.data(), result.data());
    });
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

INSTANTIATE_TEST_SUITE_P(Products, EachLibrary, ::testing::ValuesIn(available_products()),
                         [](const auto& given) { return given.param; });

TEST(Products, PlainOnesAreAlwaysThere) {
  const auto names = available_products();
  EXPECT_EQ(names.back(), "plain");
}

TEST(Products, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  try {
    products("abacus", "dense.library");
    FAIL() << "no error";
  } catch (const core::ConfigError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("dense.library"), std::string::npos) << message;
    EXPECT_NE(message.find("abacus"), std::string::npos) << message;
    EXPECT_NE(message.find("plain"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace sagips::kernels
