#include "tests/cuda/shim.hpp"

#include "sagips/cuda/update.cu"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

constexpr std::size_t count = 1000;  // more than one block, the last one not full
constexpr int steps = 50;

std::vector<float> numbers(unsigned seed, float scale) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> number(0, scale);
  std::vector<float> made(count);
  for (float& value : made) value = number(engine);
  return made;
}

/// The rules in double, for one weight.
struct Reference {
  double weight, mean = 0, square = 0;

  // source: Kingma and Ba, ICLR 2015, algorithm 1
  void adam(double gradient, double rate, int step, double beta1, double beta2, double epsilon) {
    mean = beta1 * mean + (1 - beta1) * gradient;
    square = beta2 * square + (1 - beta2) * gradient * gradient;
    weight -= rate * (mean / (1 - std::pow(beta1, step))) /
              (std::sqrt(square / (1 - std::pow(beta2, step))) + epsilon);
  }
  void rmsprop(double gradient, double rate, double decay, double epsilon) {
    square = decay * square + (1 - decay) * gradient * gradient;
    weight -= rate * gradient / (std::sqrt(square) + epsilon);
  }
};

std::vector<Reference> references(const std::vector<float>& weights) {
  std::vector<Reference> made;
  for (const float weight : weights) made.push_back({static_cast<double>(weight)});
  return made;
}

/// Weights move by 1e-3 a step here: 1e-6 of all steps, and the rounding of a weight near 1 in each.
void expect_near(const std::vector<float>& weights, const std::vector<Reference>& expected) {
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_NEAR(static_cast<double>(weights[i]), expected[i].weight,
                steps * (1e-3 * 1e-6 + 0x1p-24 * std::abs(expected[i].weight) + 0x1p-26))
        << i;
}

TEST(CudaUpdate, MakesTheStepsOfAdam) {
  std::vector<float> weights = numbers(1, 0.5F), mean(count, 0.0F), square(count, 0.0F);
  std::vector<Reference> expected = references(weights);
  std::uint32_t not_finite = 0;
  sagips_cuda_update update{0, 0, &not_finite};
  for (int step = 1; step <= steps; ++step) {
    const std::vector<float> gradients =
        numbers(100 + static_cast<unsigned>(step), step % 2 == 0 ? 1.0F : 1e-4F);
    update.rate = step < 10 ? 1e-3F : 5e-4F;
    ASSERT_EQ(sagips_cuda_adam(weights.data(), gradients.data(), mean.data(), square.data(), count,
                               0.5, 0.999, 1e-8, &update, nullptr),
              0);
    EXPECT_EQ(update.steps, static_cast<std::uint32_t>(step));
    for (std::size_t i = 0; i < count; ++i)
      expected[i].adam(static_cast<double>(gradients[i]), static_cast<double>(update.rate), step,
                       0.5, 0.999, 1e-8);
  }
  expect_near(weights, expected);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_NEAR(static_cast<double>(mean[i]), expected[i].mean, 1e-6);
    EXPECT_NEAR(static_cast<double>(square[i]), expected[i].square, 2e-6 * expected[i].square);
  }
  EXPECT_EQ(not_finite, 0U);
}

TEST(CudaUpdate, MakesTheStepsOfRmsprop) {
  std::vector<float> weights = numbers(2, 0.5F), square(count, 0.0F);
  std::vector<Reference> expected = references(weights);
  std::uint32_t not_finite = 0;
  sagips_cuda_update update{1e-4F, 0, &not_finite};
  for (int step = 1; step <= steps; ++step) {
    const std::vector<float> gradients = numbers(100 + static_cast<unsigned>(step), 1);
    ASSERT_EQ(sagips_cuda_rmsprop(weights.data(), gradients.data(), square.data(), count, 0.99,
                                  1e-8, &update, nullptr),
              0);
    for (std::size_t i = 0; i < count; ++i)
      expected[i].rmsprop(static_cast<double>(gradients[i]), static_cast<double>(update.rate), 0.99,
                          1e-8);
  }
  EXPECT_EQ(update.steps, static_cast<std::uint32_t>(steps));
  expect_near(weights, expected);
}

// The gradient that is wrong lies in the last block; a gradient at the end of floats is none.
TEST(CudaUpdate, MovesNothingForAGradientThatIsNotFinite) {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  for (const float wrong : {infinite, -infinite, std::numeric_limits<float>::quiet_NaN()}) {
    const std::vector<float> before = numbers(3, 1);
    std::vector<float> weights = before, mean(count, 0.25F), square(count, 0.5F),
                       gradients = before;
    gradients[17] = std::numeric_limits<float>::max();
    std::uint32_t not_finite = 0;
    sagips_cuda_update update{1e-3F, 6, &not_finite};
    sagips_cuda_adam(weights.data(), gradients.data(), mean.data(), square.data(), count, 0.5,
                     0.999, 1e-8, &update, nullptr);
    EXPECT_EQ(not_finite, 0U);
    EXPECT_EQ(update.steps, 7U);
    const std::vector<float> moved = weights, moved_mean = mean, moved_square = square;
    EXPECT_NE(moved, before);

    gradients.back() = wrong;
    sagips_cuda_adam(weights.data(), gradients.data(), mean.data(), square.data(), count, 0.5,
                     0.999, 1e-8, &update, nullptr);
    sagips_cuda_rmsprop(weights.data(), gradients.data(), square.data(), count, 0.99, 1e-8, &update,
                        nullptr);
    EXPECT_EQ(not_finite, 1U);
    EXPECT_EQ(update.steps, 7U);
    EXPECT_EQ(weights, moved);
    EXPECT_EQ(mean, moved_mean);
    EXPECT_EQ(square, moved_square);
  }
}

TEST(CudaUpdate, RefusesANegativeCount) {
  sagips_cuda_update update{};
  EXPECT_NE(sagips_cuda_rmsprop(nullptr, nullptr, nullptr, -1, 0.9, 1e-8, &update, nullptr), 0);
  EXPECT_EQ(sagips_cuda_rmsprop(nullptr, nullptr, nullptr, 0, 0.9, 1e-8, &update, nullptr), 0);
}

}  // namespace
