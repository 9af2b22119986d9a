#include "tests/cuda/memory.hpp"

#include "sagips/cuda/dense.cu"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "sagips/kernels/mlp_passes.hpp"

namespace {

using shim::Card;
using shim::Memory;

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

struct Case {
  std::vector<int> widths;  ///< inputs, hidden layers, outputs
  int precision;
  std::int64_t rows;
  float slope = 0.2F;

  int inputs() const { return widths.front(); }
  int outputs() const { return widths.back(); }
  std::size_t layers() const { return widths.size() - 1; }
  sagips_cuda_dense shape() const {
    sagips_cuda_dense shape{inputs(), outputs(), static_cast<int>(widths.size()) - 2, {}, slope,
                            {},       {}};
    std::copy(widths.begin() + 1, widths.end() - 1, shape.widths);
    int at = 0;
    for (std::size_t i = 0; i < layers(); ++i)
      at = (shape.weight_at[i] = at) + widths[i] * widths[i + 1];
    for (std::size_t i = 0; i < layers(); ++i) at = (shape.bias_at[i] = at) + widths[i + 1];
    return shape;
  }
  /// Numbers that stand layer by layer, as the passes find them: weights, then biases.
  Floats placed(const Floats& by_layer) const {
    Floats result(by_layer.size());
    each_place([&](std::size_t here, std::size_t there) { result[there] = by_layer[here]; });
    return result;
  }
  Floats by_layer(const Floats& placed) const {
    Floats result(placed.size());
    each_place([&](std::size_t here, std::size_t there) { result[here] = placed[there]; });
    return result;
  }
  template <class Use>
  void each_place(const Use& use) const {
    const sagips_cuda_dense shape = this->shape();
    std::size_t here = 0;
    for (std::size_t i = 0; i < layers(); ++i) {
      const auto from = static_cast<std::size_t>(widths[i]),
                 to = static_cast<std::size_t>(widths[i + 1]);
      for (std::size_t k = 0; k < from * to; ++k)
        use(here++, static_cast<std::size_t>(shape.weight_at[i]) + k);
      for (std::size_t k = 0; k < to; ++k)
        use(here++, static_cast<std::size_t>(shape.bias_at[i]) + k);
    }
  }
  std::string name() const {
    std::string text;
    for (const int width : widths) text += std::to_string(width) + "-";
    const char* const precisions[] = {"float32", "tf32", "bfloat16"};
    return text + " " + precisions[precision] + " " + std::to_string(rows) + " rows";
  }
};

Floats normal(std::size_t count, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> number(0, scale);
  Floats made(count);
  for (float& value : made) value = number(engine);
  return made;
}

/// A layer's weight and bias, one after the other, as a trained network's are scaled.
Floats weights_of(const Case& of) {
  Floats all;
  for (std::size_t layer = 0; layer < of.layers(); ++layer) {
    const auto from = static_cast<std::size_t>(of.widths[layer]),
               to = static_cast<std::size_t>(of.widths[layer + 1]);
    const unsigned seed = 10 + static_cast<unsigned>(layer);
    const Floats weight = normal(from * to, seed, 1 / std::sqrt(static_cast<float>(from)));
    const Floats bias = normal(to, seed + 40, 0.3F);
    all.insert(all.end(), weight.begin(), weight.end());
    all.insert(all.end(), bias.begin(), bias.end());
  }
  return all;
}
Floats input_of(const Case& of) {
  return normal(static_cast<std::size_t>(of.rows * of.inputs()), 99);
}

double rounded(double value, int precision) {
  if (precision == SAGIPS_CUDA_FLOAT32) return value;
  auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (precision == SAGIPS_CUDA_TF32)
    bits = (bits + 0x1000U) & 0xffffe000U;
  else
    bits = (bits + 0x7fffU + (bits >> 16 & 1)) & 0xffff0000U;
  return static_cast<double>(std::bit_cast<float>(bits));
}

double slope_of(const sagips_cuda_slopes& slopes, double z, std::size_t index) {
  const double sigmoid = 1 / (1 + std::exp(-z)), label = static_cast<double>(slopes.label);
  const double factor = static_cast<double>(slopes.factor);
  switch (slopes.kind) {
    case SAGIPS_CUDA_GIVEN:
      return static_cast<double>(slopes.given[index]);
    case SAGIPS_CUDA_ONE:
      return 1;
    case SAGIPS_CUDA_LEAST_SQUARES:
      return 2 * factor * (sigmoid - label) * sigmoid * (1 - sigmoid);
    case SAGIPS_CUDA_CROSS_ENTROPY:
      return factor * (sigmoid - label);
    default:
      return factor;
  }
}

struct Results {
  Doubles output, input_gradient, weight_gradients;
};

/// The network in float64. Between hidden layers factors are rounded as the precision has it.
class Reference {
 public:
  explicit Reference(const Case& of) : of_(of), weights_(weights_of(of)) {}

  Results run(const sagips_cuda_slopes& slopes) {
    const Floats input = input_of(of_);
    results_.weight_gradients.assign(weights_.size(), 0);
    for (std::int64_t row = 0; row < of_.rows; ++row)
      add_row(input.data() + row * of_.inputs(), slopes, row);
    return results_;
  }

 private:
  bool is_product(std::size_t layer) const { return layer > 0 && layer + 1 < of_.layers(); }
  double round(double value, std::size_t layer) const {
    return is_product(layer) ? rounded(value, of_.precision) : value;
  }
  std::size_t width(std::size_t layer) const { return static_cast<std::size_t>(of_.widths[layer]); }

  Doubles forward(const Doubles& below, std::size_t layer, std::size_t at) const {
    Doubles sums(width(layer + 1));
    for (std::size_t to = 0; to < sums.size(); ++to) {
      sums[to] = static_cast<double>(weights_[at + sums.size() * below.size() + to]);
      for (std::size_t from = 0; from < below.size(); ++from)
        sums[to] += round(below[from], layer) *
                    round(static_cast<double>(weights_[at + to * below.size() + from]), layer);
    }
    return sums;
  }
  /// Adds gradients of a layer's weights; gives the slopes by what is below.
  Doubles backward(const Doubles& slopes, const Doubles& below, std::size_t layer, std::size_t at) {
    Doubles slopes_below(below.size(), 0);
    for (std::size_t to = 0; to < slopes.size(); ++to) {
      const double slope = round(slopes[to], layer);
      for (std::size_t from = 0; from < below.size(); ++from) {
        const std::size_t place = at + to * below.size() + from;
        slopes_below[from] += slope * round(static_cast<double>(weights_[place]), layer);
        results_.weight_gradients[place] += slope * round(below[from], layer);
      }
      results_.weight_gradients[at + slopes.size() * below.size() + to] += slopes[to];
    }
    return slopes_below;
  }
  void add_row(const float* input, const sagips_cuda_slopes& by, std::int64_t row) {
    std::vector<Doubles> values{Doubles(input, input + of_.inputs())};
    std::vector<std::size_t> places{0};
    for (std::size_t layer = 0; layer < of_.layers(); ++layer) {
      values.push_back(forward(values.back(), layer, places.back()));
      places.push_back(places.back() + (width(layer) + 1) * width(layer + 1));
      if (layer + 1 == of_.layers()) break;
      for (double& value : values.back())
        if (value <= 0) value *= static_cast<double>(of_.slope);
    }
    Doubles slopes;
    for (std::size_t i = 0; i < values.back().size(); ++i)
      slopes.push_back(
          slope_of(by, values.back()[i], static_cast<std::size_t>(row) * values.back().size() + i));
    results_.output.insert(results_.output.end(), values.back().begin(), values.back().end());
    for (std::size_t layer = of_.layers(); layer-- > 0;) {
      slopes = backward(slopes, values[layer], layer, places[layer]);
      for (std::size_t i = 0; layer > 0 && i < slopes.size(); ++i)
        if (values[layer][i] <= 0) slopes[i] *= static_cast<double>(of_.slope);
    }
    results_.input_gradient.insert(results_.input_gradient.end(), slopes.begin(), slopes.end());
  }

  Case of_;
  Floats weights_;
  Results results_;
};

constexpr float before = 0.25F;  // of weight gradients, before the passes add to them

struct Device {
  explicit Device(const Case& of)
      : of(of),
        input(input_of(of)),
        packed(sagips_cuda_dense_packed_bytes(of.shape(), of.precision)),
        work(sagips_cuda_dense_work_bytes(of.shape(), of.precision, of.rows)),
        output(static_cast<std::size_t>(of.rows * of.outputs()), NAN),
        input_gradient(input.size(), NAN),
        weight_gradients(weights_of(of).size(), before) {
    EXPECT_EQ(sagips_cuda_dense_pack(of.shape(), of.precision, of.placed(weights_of(of)).data(),
                                     packed.data(), nullptr),
              0);
  }
  void run(const sagips_cuda_slopes& slopes, bool wants_input, bool wants_weights) {
    EXPECT_EQ(sagips_cuda_dense_passes(of.shape(), of.precision, packed.data(), input.data(),
                                       of.rows, slopes, output.data(),
                                       wants_input ? input_gradient.data() : nullptr,
                                       wants_weights ? weight_gradients.data() : nullptr,
                                       wants_weights ? work.data() : nullptr, nullptr),
              0);
    EXPECT_TRUE(packed.end_is_untouched());
    EXPECT_TRUE(work.end_is_untouched());
  }
  Case of;
  Floats input;
  Memory packed, work;
  Floats output, input_gradient, weight_gradients;
};

/// Distance of all numbers, relative to their size; not a number where one of them is none.
double distance(const Floats& have, const Doubles& want, float offset = 0) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double apart = static_cast<double>(have[i]) - static_cast<double>(offset) - want[i];
    difference += apart * apart, size += want[i] * want[i];
  }
  return std::sqrt(difference / size);
}

/// Where the kernels' float32 sums fall on the other side of a rounding than float64's, a factor is off by the
/// precision's last bit. float32: what was in the gradients before counts, too.
double tolerance(int precision) {
  return precision == SAGIPS_CUDA_FLOAT32 ? 1e-5 : precision == SAGIPS_CUDA_TF32 ? 3e-4 : 1e-3;
}

void compare(const Case& of, const sagips_cuda_slopes& slopes) {
  SCOPED_TRACE(of.name() + ", slopes of kind " + std::to_string(slopes.kind));
  const Results want = Reference(of).run(slopes);
  const double within = tolerance(of.precision);
  Device device(of);
  device.run(slopes, true, true);
  EXPECT_LE(distance(device.output, want.output), within);
  EXPECT_LE(distance(device.input_gradient, want.input_gradient), within);
  EXPECT_LE(distance(of.by_layer(device.weight_gradients), want.weight_gradients, before), within);
}

const std::vector<std::vector<int>> shapes = {{2, 128, 128, 128, 128, 1},
                                              {6, 128, 128, 128, 128, 6},
                                              {1, 16, 1},
                                              {3, 40, 128, 7, 2},
                                              {8, 5, 128, 8}};

sagips_cuda_slopes slopes_of_kind(int kind, const Floats& given) {
  return {kind, kind == SAGIPS_CUDA_LEAST_SQUARES ? 0.0F : 1.0F, 0.75F, given.data()};
}

TEST(Dense, GradientsOfEveryShapeAndPrecision) {
  for (const auto& widths : shapes)
    for (const std::int64_t rows : {1, 33, 200})
      for (const int precision : {SAGIPS_CUDA_FLOAT32, SAGIPS_CUDA_TF32, SAGIPS_CUDA_BFLOAT16}) {
        const Case of{widths, precision, rows};
        const Floats given = normal(static_cast<std::size_t>(rows * of.outputs()), 7);
        compare(of, slopes_of_kind(SAGIPS_CUDA_GIVEN, given));
      }
}

TEST(Dense, SlopesOfEveryLoss) {
  for (const int precision : {SAGIPS_CUDA_FLOAT32, SAGIPS_CUDA_BFLOAT16})
    for (int kind = SAGIPS_CUDA_GIVEN; kind <= SAGIPS_CUDA_LINEAR; ++kind) {
      const Case of{{3, 40, 128, 7, 5}, precision, 33};
      compare(of, slopes_of_kind(kind, normal(std::size_t{33} * 5, 7)));
    }
}

TEST(Dense, ReluAndLinearLayers) {
  for (const float slope : {0.0F, 1.0F}) {
    const Case of{{2, 64, 64, 1}, SAGIPS_CUDA_FLOAT32, 33, slope};
    compare(of, slopes_of_kind(SAGIPS_CUDA_ONE, {}));
  }
}

// An A100's block has shared memory for two products' weights in 32 bits, a smaller card's for none.
TEST(Dense, WeightsThatDoNotFitIntoSharedMemory) {
  for (const size_t limit : {166912, 101376, 49152})
    for (const int precision : {SAGIPS_CUDA_FLOAT32, SAGIPS_CUDA_TF32}) {
      const Card card(limit, 2);
      const Case of{{6, 128, 128, 128, 128, 6}, precision, 33};
      compare(of, slopes_of_kind(SAGIPS_CUDA_GIVEN, normal(std::size_t{33} * 6, 7)));
    }
}

TEST(Dense, MoreMultiprocessorsThanTiles) {
  for (const int precision : {SAGIPS_CUDA_TF32, SAGIPS_CUDA_BFLOAT16}) {
    const Card card(shim::shared_limit, 132);
    const Case of{{2, 128, 128, 128, 1}, precision, 300};
    compare(of, slopes_of_kind(SAGIPS_CUDA_GIVEN, normal(300, 7)));
  }
}

/// Each wish alone gives the same bits as both together, and nothing else is written.
TEST(Dense, WishesAreIndependent) {
  for (const int precision : {SAGIPS_CUDA_FLOAT32, SAGIPS_CUDA_TF32, SAGIPS_CUDA_BFLOAT16}) {
    const Case of{{2, 128, 128, 3}, precision, 150};
    SCOPED_TRACE(of.name());
    const auto slopes = slopes_of_kind(SAGIPS_CUDA_CROSS_ENTROPY, {});
    Device both(of), input(of), weights(of), outputs(of);
    both.run(slopes, true, true);
    input.run(slopes, true, false);
    weights.run(slopes, false, true);
    EXPECT_EQ(
        sagips_cuda_dense_outputs(of.shape(), precision, outputs.packed.data(),
                                  outputs.input.data(), of.rows, outputs.output.data(), nullptr),
        0);
    EXPECT_EQ(input.output, both.output);
    EXPECT_EQ(weights.output, both.output);
    EXPECT_EQ(outputs.output, both.output);
    EXPECT_EQ(input.input_gradient, both.input_gradient);
    EXPECT_EQ(weights.weight_gradients, both.weight_gradients);
    EXPECT_EQ(input.weight_gradients, Floats(both.weight_gradients.size(), before));
    EXPECT_TRUE(std::all_of(weights.input_gradient.begin(), weights.input_gradient.end(),
                            [](float value) { return std::isnan(value); }));
  }
}

TEST(Dense, SecondCallGivesTheSameBitsAndAdds) {
  for (const int precision : {SAGIPS_CUDA_FLOAT32, SAGIPS_CUDA_TF32, SAGIPS_CUDA_BFLOAT16}) {
    const Case of{{6, 128, 128, 128, 128, 6}, precision, 200};
    SCOPED_TRACE(of.name());
    const auto slopes = slopes_of_kind(SAGIPS_CUDA_LEAST_SQUARES, {});
    Device device(of);
    const auto run = [&] {
      device.weight_gradients.assign(device.weight_gradients.size(), 0);
      device.run(slopes, true, true);
      return device.weight_gradients;
    };
    const Floats first = run();
    const Floats output = device.output, input_gradient = device.input_gradient;
    EXPECT_EQ(run(), first);
    EXPECT_EQ(device.output, output);
    EXPECT_EQ(device.input_gradient, input_gradient);
    device.run(slopes, true, true);
    for (std::size_t i = 0; i < first.size(); ++i)
      ASSERT_EQ(device.weight_gradients[i], first[i] + first[i]);
  }
}

TEST(Dense, AgreesWithThePassesOnTheCpu) {
  namespace kernels = sagips::kernels;
  const Case of{{2, 128, 128, 128, 128, 1}, SAGIPS_CUDA_FLOAT32, 150};
  kernels::MlpShape shape{{of.widths.begin(), of.widths.end()},
                          {kernels::PanelActivation::Kind::leaky_relu, of.slope}};
  kernels::MlpPasses passes(shape, 64, kernels::products("plain"));
  const Floats weights = weights_of(of), input = input_of(of);
  Floats output(150), gradients(weights.size(), 0);
  std::vector<const float*> parameters;
  std::vector<float*> gradients_of;
  std::size_t at = 0;
  for (std::size_t layer = 0; layer < of.layers(); ++layer)
    for (const int columns : {of.widths[layer], 1}) {
      parameters.push_back(weights.data() + at);
      gradients_of.push_back(gradients.data() + at);
      at += static_cast<std::size_t>(columns * of.widths[layer + 1]);
    }
  passes.pack(parameters);
  const auto slopes = [](std::span<const float> outputs, std::int64_t, std::span<float> to) {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = 0.75F * (1 / (1 + std::exp(-outputs[i])) - 1);
  };
  passes.learn({input.data(), of.rows, output.data(), nullptr}, slopes, gradients_of);
  Device device(of);
  device.run(slopes_of_kind(SAGIPS_CUDA_CROSS_ENTROPY, {}), false, true);
  EXPECT_LE(distance(device.output, Doubles(output.begin(), output.end())), 1e-5);
  EXPECT_LE(distance(of.by_layer(device.weight_gradients),
                     Doubles(gradients.begin(), gradients.end()), before),
            1e-5);
}

TEST(Dense, RefusesOtherShapes) {
  const Case fine{{2, 128, 1}, SAGIPS_CUDA_TF32, 5};
  const auto is_refused = [](sagips_cuda_dense shape, int precision) {
    float number = 0;
    const int error = sagips_cuda_dense_passes(shape, precision, &number, &number, 1, {}, &number,
                                               nullptr, nullptr, nullptr, nullptr);
    return error != 0 && sagips_cuda_dense_pack(shape, precision, &number, &number, nullptr) != 0 &&
           sagips_cuda_dense_packed_bytes(shape, precision) == 0 &&
           sagips_cuda_dense_work_bytes(shape, precision, 1) == 0;
  };
  const auto changed = [&](auto change) {
    sagips_cuda_dense shape = fine.shape();
    change(shape);
    return shape;
  };
  EXPECT_GT(sagips_cuda_dense_packed_bytes(fine.shape(), SAGIPS_CUDA_TF32), 0);
  EXPECT_GT(sagips_cuda_dense_work_bytes(fine.shape(), SAGIPS_CUDA_TF32, 0), 0);
  EXPECT_TRUE(is_refused(fine.shape(), 3));
  EXPECT_TRUE(is_refused(changed([](auto& shape) { shape.inputs = 9; }), 0));
  EXPECT_TRUE(is_refused(changed([](auto& shape) { shape.outputs = 0; }), 0));
  EXPECT_TRUE(is_refused(changed([](auto& shape) { shape.hidden_layers = 5; }), 0));
  EXPECT_TRUE(is_refused(changed([](auto& shape) { shape.widths[0] = 129; }), 0));
  EXPECT_TRUE(is_refused(changed([](auto& shape) { shape.slope = 1.5F; }), 0));
  EXPECT_EQ(sagips_cuda_dense_passes(fine.shape(), 1, nullptr, nullptr, 0, {}, nullptr, nullptr,
                                     nullptr, nullptr, nullptr),
            0);
}

}  // namespace
