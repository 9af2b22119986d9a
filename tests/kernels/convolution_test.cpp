// Convolutions against plain loops in double: every set of instructions, kernels with and without tiles, any part
// of the planes.
#include "sagips/kernels/convolution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"
#include "tests/kernels/numbers.hpp"

namespace sagips::kernels {
namespace {

using testing::numbers;
using Numbers = std::vector<double>;

// Calls with the places of an input, a weight and an output whose product is a part of the sum.
void each_product(const ConvolutionShape& s,
                  const std::function<void(std::size_t, std::size_t, std::size_t)>& use) {
  std::size_t out = 0;
  for (std::int64_t c = 0; c < s.out_channels; ++c)
    for (std::int64_t x = 0; x < s.output(0); ++x)
      for (std::int64_t y = 0; y < s.output(1); ++y)
        for (std::int64_t z = 0; z < s.output(2); ++z, ++out) {
          std::size_t weight = static_cast<std::size_t>(c * s.in_channels * s.taps());
          for (std::int64_t i = 0; i < s.in_channels; ++i)
            for (std::int64_t a = 0; a < s.kernel[0]; ++a)
              for (std::int64_t b = 0; b < s.kernel[1]; ++b)
                for (std::int64_t d = 0; d < s.kernel[2]; ++d, ++weight) {
                  const std::int64_t u = x + a - s.before[0], v = y + b - s.before[1],
                                     w = z + d - s.before[2];
                  if (u < 0 || v < 0 || w < 0 || u >= s.input[0] || v >= s.input[1] ||
                      w >= s.input[2])
                    continue;
                  use(static_cast<std::size_t>(
                          ((i * s.input[0] + u) * s.input[1] + v) * s.input[2] + w),
                      weight, out);
                }
        }
}

double relative(const std::vector<float>& ours, const Numbers& known) {
  EXPECT_EQ(ours.size(), known.size());
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    difference += std::pow(ours[i] - known[i], 2);
    norm += known[i] * known[i];
  }
  return std::sqrt(difference / norm);
}

struct Case {
  const char* name;
  ConvolutionShape shape;
};
std::vector<Case> cases() {
  std::vector<Case> all{{"even", {3, 5, {6, 7, 11}, {3, 4, 4}, {1, 2, 1}, {2, 1, 2}}},
                        {"calorimeter", {16, 8, {7, 9, 25}, {5, 6, 6}, {0, 0, 1}, {0, 0, 1}}},
                        {"one_channel_in", {1, 16, {6, 8, 19}, {5, 6, 6}, {2, 2, 2}, {2, 3, 3}}},
                        {"one_channel_out", {9, 1, {5, 6, 20}, {2, 5, 5}, {1, 4, 4}, {1, 0, 4}}},
                        {"image", {20, 33, {1, 12, 13}, {1, 3, 3}, {0, 1, 1}, {0, 1, 1}}},
                        {"line", {30, 17, {1, 1, 150}, {1, 1, 7}, {0, 0, 6}, {0, 0, 0}}},
                        {"few", {2, 3, {4, 3, 2}, {2, 2, 2}}},
                        {"wide_kernel", {5, 4, {3, 4, 30}, {2, 3, 9}, {0, 1, 8}, {0, 1, 0}}},
                        {"one_tap", {7, 6, {3, 4, 5}, {1, 1, 1}}}};
  // tiles of every length
  for (std::int64_t taps = 2; taps <= 7; ++taps)
    all.push_back({"taps", {40, 40, {1, 5, 40}, {1, 5, taps}, {0, 2, taps - 1}, {0, 2, 1}}});
  return all;
}

class Convolutions : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Of, Convolutions, ::testing::ValuesIn(convolution_instructions()),
                         [](const auto& one) { return one.param; });

TEST_P(Convolutions, AreSumsOfProducts) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const ConvolutionShape& shape = one.shape;
    const auto input = numbers(shape.input_numbers(), 1), weight = numbers(shape.weights(), 2),
               bias = numbers(shape.out_channels, 3);
    const std::size_t outputs = static_cast<std::size_t>(shape.output_numbers()),
                      of_channel = outputs / bias.size();
    Numbers known(outputs);
    for (std::size_t i = 0; i < outputs; ++i) known[i] = bias[i / of_channel];
    each_product(shape, [&](std::size_t in, std::size_t tap, std::size_t out) {
      known[out] += static_cast<double>(input[in]) * weight[tap];
    });
    for (double& value : known) value = value > 0 ? value : 0.3 * value;

    const Convolution convolution(shape, GetParam());
    const AlignedFloats packed = convolution.pack(weight.data());
    std::vector<float> output(outputs);
    const std::int64_t part = shape.output(0) / 2;  // two threads' planes
    for (const PlaneRange planes : {PlaneRange{0, part}, PlaneRange{part, shape.output(0) - part}})
      convolution.forward(input.data(), packed.data(), {bias.data(), 0.3F}, output.data(), planes);
    EXPECT_LT(relative(output, known), 3e-6);
  }
}

TEST_P(Convolutions, GiveTheGradientsOfTheirInput) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const ConvolutionShape& shape = one.shape;
    const auto gradient = numbers(shape.output_numbers(), 4), weight = numbers(shape.weights(), 5);
    Numbers known(static_cast<std::size_t>(shape.input_numbers()));
    each_product(shape, [&](std::size_t in, std::size_t tap, std::size_t out) {
      known[in] += static_cast<double>(gradient[out]) * weight[tap];
    });
    const Convolution below(shape.below(), GetParam());
    const AlignedFloats packed = below.pack_turned(weight.data());
    std::vector<float> found(known.size());
    below.forward(gradient.data(), packed.data(), {}, found.data(), {0, shape.input[0]});
    EXPECT_LT(relative(found, known), 3e-6);
  }
}

TEST_P(Convolutions, GiveTheGradientsOfTheirWeights) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.name);
    const ConvolutionShape& shape = one.shape;
    const auto input = numbers(shape.input_numbers(), 6),
               gradient = numbers(shape.output_numbers(), 7);
    Numbers known(static_cast<std::size_t>(shape.weights()), 1.0),
        biases(static_cast<std::size_t>(shape.out_channels), 1.0);
    each_product(shape, [&](std::size_t in, std::size_t tap, std::size_t out) {
      known[tap] += static_cast<double>(input[in]) * gradient[out];
    });
    for (std::size_t i = 0; i < gradient.size(); ++i)
      biases[i / (gradient.size() / biases.size())] += gradient[i];
    WeightGradients sums(Convolution(shape, GetParam()));
    const std::int64_t part = shape.output(0) / 2;
    sums.add(input.data(), gradient.data(), {part, shape.output(0) - part});
    sums.add(input.data(), gradient.data(), {0, part});
    std::vector<float> weights(known.size(), 1.0F), found(biases.size(), 1.0F);
    sums.give(weights.data(), found.data());
    EXPECT_LT(relative(weights, known), 3e-6);
    EXPECT_LT(relative(found, biases), 3e-6);
  }
}

// A stop on the way has it that numbers are not finite, wherever they come from.
TEST_P(Convolutions, KeepWhatIsNotFinite) {
  const ConvolutionShape shape{40, 40, {1, 6, 20}, {1, 3, 3}};
  auto input = numbers(shape.input_numbers(), 8);
  const auto weight = numbers(shape.weights(), 9);
  input[50] = std::nanf("");
  const Convolution convolution(shape, GetParam());
  std::vector<float> output(static_cast<std::size_t>(shape.output_numbers()));
  convolution.forward(input.data(), convolution.pack(weight.data()).data(), {}, output.data(),
                      {0, 1});
  EXPECT_TRUE(std::any_of(output.begin(), output.end(), [](float x) { return std::isnan(x); }));
}

TEST(ConvolutionInstructions, AreThoseOfThisProcessor) {
  EXPECT_EQ(testing::message_of<core::Error>([] { Convolution({}, "abacus"); }),
            "this processor has no 'abacus' for convolutions.");
}

}  // namespace
}  // namespace sagips::kernels
