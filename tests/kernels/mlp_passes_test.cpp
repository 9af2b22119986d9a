#include "sagips/kernels/mlp_passes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>

#include "sagips/core/error.hpp"
#include "tests/kernels/numbers.hpp"

namespace sagips::kernels {
namespace {

using testing::numbers;
using Doubles = std::vector<double>;
using Kind = PanelActivation::Kind;

/// Hidden layers of one width with LeakyReLU.
MlpShape uniform(std::int64_t inputs, std::int64_t width, std::int64_t layers, float negative_slope,
                 std::int64_t outputs = 1) {
  std::vector<std::int64_t> widths(static_cast<std::size_t>(layers) + 2, width);
  widths.front() = inputs;
  widths.back() = outputs;
  return {widths, {Kind::leaky_relu, negative_slope}};
}

std::size_t size(std::int64_t number) { return static_cast<std::size_t>(number); }

/// A network and rows for it; weights are scaled as a trained network's are.
struct Passes {
  MlpShape shape;
  std::int64_t rows;
  std::vector<std::vector<float>> parameters;
  std::vector<float> input;

  Passes(const MlpShape& of, std::int64_t count) : shape(of), rows(count) {
    for (std::size_t layer = 0; layer <= shape.hidden_layers(); ++layer) {
      const std::int64_t from = shape.widths[layer], to = shape.widths[layer + 1];
      parameters.push_back(numbers(to * from, 10 + static_cast<std::uint64_t>(layer)));
      for (float& weight : parameters.back()) weight *= std::sqrt(3.0F / static_cast<float>(from));
      parameters.push_back(numbers(to, 50 + static_cast<std::uint64_t>(layer)));
    }
    input = numbers(rows * shape.inputs(), 99);
  }
  std::vector<const float*> pointers() const {
    std::vector<const float*> all;
    for (const auto& tensor : parameters) all.push_back(tensor.data());
    return all;
  }
};

/// Any smooth slope of a loss, different from row to row; some are zero.
double slope_at(double output, std::int64_t index) {
  return index % 5 == 3 ? 0.0 : std::tanh(output) + 0.1 * static_cast<double>(index % 7);
}

// source: Klambauer et al., arXiv 1706.02515
constexpr double selu_scale = 1.0507009873554805, selu_alpha = 1.6732632423543772;

double activated(const PanelActivation& by, double z) {
  switch (by.kind) {
    case Kind::leaky_relu:
      return z > 0 ? z : z * static_cast<double>(by.negative_slope);
    case Kind::elu:
      return z > 0 ? z : std::expm1(z);
    case Kind::selu:
      return selu_scale * (z > 0 ? z : selu_alpha * std::expm1(z));
    case Kind::tanh:
      return std::tanh(z);
    case Kind::sigmoid:
      return 1 / (1 + std::exp(-z));
  }
  return 0;
}

double slope_of(const PanelActivation& by, double z) {
  switch (by.kind) {
    case Kind::leaky_relu:
      return z > 0 ? 1 : static_cast<double>(by.negative_slope);
    case Kind::elu:
      return z > 0 ? 1 : std::exp(z);
    case Kind::selu:
      return selu_scale * (z > 0 ? 1 : selu_alpha * std::exp(z));
    case Kind::tanh:
      return 1 / (std::cosh(z) * std::cosh(z));
    case Kind::sigmoid:
      return activated(by, z) * (1 - activated(by, z));
  }
  return 0;
}

struct Answer {
  Doubles output, input_gradient;
  std::vector<Doubles> gradients;
};

/// The textbook's passes in double precision, row by row.
Answer textbook(const Passes& problem) {
  const std::int64_t inputs = problem.shape.inputs(), outputs = problem.shape.outputs();
  const std::size_t layers = problem.shape.hidden_layers();
  Answer answer;
  for (const auto& tensor : problem.parameters) answer.gradients.emplace_back(tensor.size(), 0.0);
  for (std::int64_t row = 0; row < problem.rows; ++row) {
    std::vector<Doubles> values(1);
    for (std::int64_t i = 0; i < inputs; ++i)
      values[0].push_back(problem.input[size(row * inputs + i)]);
    std::vector<Doubles> sums;
    for (std::size_t layer = 0; layer <= layers; ++layer) {
      const auto& weight = problem.parameters[2 * layer];
      const auto& bias = problem.parameters[2 * layer + 1];
      Doubles sum(bias.begin(), bias.end()), after;
      const std::size_t from = values.back().size();
      for (std::size_t to = 0; to < sum.size(); ++to)
        for (std::size_t k = 0; k < from; ++k)
          sum[to] += static_cast<double>(weight[to * from + k]) * values.back()[k];
      for (const double z : sum) after.push_back(activated(problem.shape.activation, z));
      sums.push_back(sum);
      values.push_back(after);
    }
    // factors: d loss / d output; with one output the deltas are free of it
    Doubles delta;
    for (std::int64_t i = 0; i < outputs; ++i) {
      const double output = sums.back()[size(i)];
      answer.output.push_back(output);
      delta.push_back(slope_at(output, row * outputs + i));
    }
    const double factor = outputs == 1 ? delta[0] : 1.0;
    if (outputs == 1) delta[0] = 1.0;
    for (std::size_t layer = layers + 1; layer-- > 0;) {
      const auto& weight = problem.parameters[2 * layer];
      const Doubles& before = values[layer];
      Doubles below(before.size(), 0.0);
      for (std::size_t to = 0; to < delta.size(); ++to) {
        answer.gradients[2 * layer + 1][to] += factor * delta[to];
        for (std::size_t k = 0; k < before.size(); ++k) {
          answer.gradients[2 * layer][to * before.size() + k] += factor * delta[to] * before[k];
          below[k] += delta[to] * static_cast<double>(weight[to * before.size() + k]);
        }
      }
      if (layer > 0)
        for (std::size_t k = 0; k < below.size(); ++k)
          below[k] *= slope_of(problem.shape.activation, sums[layer - 1][k]);
      delta = below;
    }
    answer.input_gradient.insert(answer.input_gradient.end(), delta.begin(), delta.end());
  }
  return answer;
}

double difference(const std::vector<float>& ours, const Doubles& theirs) {
  double off = 0, norm = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    off += std::pow(static_cast<double>(ours[i]) - theirs[i], 2);
    norm += theirs[i] * theirs[i];
  }
  return norm > 0 ? std::sqrt(off / norm) : std::sqrt(off);
}

// A share of norms, tensor by tensor; float32 rounding leaves 1e-6 (seen: at most 2e-6).
constexpr double pass_bound = 1e-5;

void expect_equal(const Passes& problem, std::int64_t block_rows, const std::string& library,
                  bool with_input_gradient) {
  SCOPED_TRACE(::testing::Message()
               << library << ", " << problem.rows << " rows in blocks of " << block_rows
               << ", widths " << ::testing::PrintToString(problem.shape.widths)
               << (with_input_gradient ? ", input gradient" : ""));
  const Answer expected = textbook(problem);
  MlpPasses passes(problem.shape, block_rows, products(library));
  passes.pack(problem.pointers());

  const std::int64_t outputs = problem.shape.outputs();
  std::vector<float> output(size(problem.rows * outputs) + 1, 7.0F);
  std::vector<float> input_gradient(problem.input.size() + 1, 7.0F);
  const MlpPasses::Rows rows{problem.input.data(), problem.rows, output.data(),
                             with_input_gradient ? input_gradient.data() : nullptr};
  passes.evaluate(rows);
  EXPECT_LT(difference(output, expected.output), pass_bound);
  if (with_input_gradient) {
    EXPECT_LT(difference(input_gradient, expected.input_gradient), pass_bound);
  }

  std::vector<std::vector<float>> gradients;
  std::vector<float*> places;
  for (const auto& tensor : problem.parameters) gradients.emplace_back(tensor.size(), 0.0F);
  for (auto& tensor : gradients) places.push_back(tensor.data());
  const auto slopes = [&](std::span<const float> found, std::int64_t first, std::span<float> to) {
    for (std::size_t i = 0; i < found.size(); ++i)
      to[i] = static_cast<float>(
          slope_at(static_cast<double>(found[i]), first * outputs + static_cast<std::int64_t>(i)));
  };
  passes.learn(rows, slopes, places);
  EXPECT_LT(difference(output, expected.output), pass_bound);
  if (with_input_gradient) {
    EXPECT_LT(difference(input_gradient, expected.input_gradient), pass_bound);
  }
  for (std::size_t i = 0; i < gradients.size(); ++i)
    EXPECT_LT(difference(gradients[i], expected.gradients[i]), pass_bound) << "tensor " << i;
  EXPECT_EQ(output.back(), 7.0F) << "wrote behind its end";
  EXPECT_EQ(input_gradient.back(), 7.0F) << "wrote behind its end";

  passes.learn(rows, slopes, places);  // added to what is there
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    Doubles twice = expected.gradients[i];
    for (double& value : twice) value *= 2;
    EXPECT_LT(difference(gradients[i], twice), pass_bound) << "tensor " << i << ", second time";
  }
}

class MlpPassesOf : public ::testing::TestWithParam<std::string> {};

TEST_P(MlpPassesOf, EqualTheTextbookForAnyNumberOfRows) {
  for (const std::int64_t rows : {1, 31, 32, 33, 64, 100, 257})
    for (const bool with_input_gradient : {false, true})
      expect_equal(Passes(uniform(2, 128, 4, 0.2F), rows), 64, GetParam(), with_input_gradient);
}

TEST_P(MlpPassesOf, EqualTheTextbookForAnyBlock) {
  for (const std::int64_t block_rows : {1, 32, 96, 512})
    for (const bool with_input_gradient : {false, true})
      expect_equal(Passes(uniform(2, 64, 3, 0.2F), 150), block_rows, GetParam(),
                   with_input_gradient);
}

TEST_P(MlpPassesOf, EqualTheTextbookForAnyNetwork) {
  for (const MlpShape& shape :
       {uniform(1, 1, 1, 0.2F), uniform(3, 5, 2, 0.0F), uniform(40, 17, 2, 0.1F),
        uniform(2, 100, 1, 1.0F), uniform(16, 83, 5, 0.01F)})
    for (const bool with_input_gradient : {false, true})
      expect_equal(Passes(shape, 70), 64, GetParam(), with_input_gradient);
}

TEST_P(MlpPassesOf, EqualTheTextbookForSeveralOutputs) {
  for (const MlpShape& shape :
       {uniform(6, 128, 4, 0.2F, 6), uniform(3, 20, 1, 0.2F, 2), uniform(5, 33, 2, 0.1F, 40)})
    for (const std::int64_t rows : {1, 32, 70, 130})
      expect_equal(Passes(shape, rows), 64, GetParam(), false);
}

TEST_P(MlpPassesOf, EqualTheTextbookForWidthsThatDiffer) {
  for (const std::int64_t outputs : {1, 3})
    for (const std::int64_t inputs : {4, 60})
      for (const bool with_input_gradient : {false, outputs == 1})
        expect_equal(Passes({{inputs, 33, 70, 7, outputs}, {Kind::leaky_relu, 0}}, 75), 64,
                     GetParam(), with_input_gradient);
}

TEST_P(MlpPassesOf, EqualTheTextbookForEveryActivation) {
  for (const Kind kind : {Kind::leaky_relu, Kind::elu, Kind::selu, Kind::tanh, Kind::sigmoid})
    for (const std::int64_t outputs : {1, 3})
      for (const bool with_input_gradient : {false, outputs == 1})
        expect_equal(Passes({{5, 40, 17, outputs}, {kind, 0.1F}}, 70), 64, GetParam(),
                     with_input_gradient);
}

INSTANTIATE_TEST_SUITE_P(Kernels, MlpPassesOf, ::testing::ValuesIn(available_products()),
                         [](const auto& given) { return given.param; });

TEST(MlpPasses, ServeSeveralThreadsAtOnce) {
  const Passes problem(uniform(2, 64, 4, 0.2F), 300);
  MlpPasses passes(problem.shape, 96, products(available_products().front()));
  passes.pack(problem.pointers());
  const auto run = [&] {
    std::vector<float> output(size(problem.rows)), input_gradient(problem.input.size());
    passes.evaluate({problem.input.data(), problem.rows, output.data(), input_gradient.data()});
    return input_gradient;
  };
  const std::vector<float> expected = run();
  std::vector<std::vector<float>> results(3);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = run(); });
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

// The ends of what a float holds, where the exponential is cut off.
TEST(MlpPasses, ActivateNumbersOfAnySize) {
  for (const Kind kind : {Kind::elu, Kind::selu, Kind::tanh, Kind::sigmoid}) {
    std::vector<float> values, bias = {0};
    for (const float size : {0.0F, 1e-30F, 1e-6F, 0.3F, 1.0F, 9.0F, 87.0F, 89.0F, 1e30F})
      for (const float sign : {-1.0F, 1.0F}) values.push_back(sign * size);
    const std::vector<float> sums = values;
    activate(
        {.rows = values.size(), .width = 1, .activation = {kind}, .activations = values.data()},
        bias.data());
    for (std::size_t i = 0; i < sums.size(); ++i)
      EXPECT_NEAR(values[i], activated({kind}, static_cast<double>(sums[i])),
                  2e-7 * std::max(1.0, std::abs(static_cast<double>(sums[i]))))
          << "of " << sums[i];
  }
}

TEST(RowsInCache, LeaveRoomForTheWeights) {
  const MlpShape paper = uniform(2, 128, 4, 0.2F);
  EXPECT_EQ(rows_in_cache(paper, 2 << 20), 320);
  EXPECT_EQ(rows_in_cache(paper, 1 << 20), 64) << "never less than two panels";
  EXPECT_EQ(rows_in_cache(paper, 1 << 30), 512);
  EXPECT_EQ(rows_in_cache(uniform(2, 4096, 4, 0.2F), 2 << 20), 64);
  EXPECT_GE(second_level_cache(), 1 << 16);
}

}  // namespace
}  // namespace sagips::kernels
