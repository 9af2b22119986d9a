#include "tests/cuda/memory.hpp"

#include "sagips/cuda/conv3d.cu"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace {

using shim::Card;
using shim::Memory;

using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Shape = sagips_cuda_conv3d;

int size_after(const Shape& of, int i) {
  return of.size[i] + of.before[i] + of.after[i] - of.kernel[i] + 1;
}
std::size_t count_before(const Shape& of) {
  return static_cast<std::size_t>(of.samples * of.inputs * of.size[0] * of.size[1] * of.size[2]);
}
std::size_t count_after(const Shape& of) {
  return static_cast<std::size_t>(of.samples * of.outputs * size_after(of, 0) * size_after(of, 1) *
                                  size_after(of, 2));
}
std::size_t count_weights(const Shape& of) {
  return static_cast<std::size_t>(of.outputs * of.inputs * of.kernel[0] * of.kernel[1] *
                                  of.kernel[2]);
}
std::string name(const Shape& of) {
  std::string text = std::to_string(of.samples) + " samples, " + std::to_string(of.inputs) +
                     " -> " + std::to_string(of.outputs) + " channels, size";
  for (const int length : of.size) text += " " + std::to_string(length);
  text += ", kernel";
  for (const int length : of.kernel) text += " " + std::to_string(length);
  return text + ", slope " + std::to_string(of.slope);
}

Floats normal(std::size_t count, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> number(0, scale);
  Floats made(count);
  for (float& value : made) value = number(engine);
  return made;
}
double rounded(float value) {
  const auto bits = (std::bit_cast<std::uint32_t>(value) + 0x1000U) & 0xffffe000U;
  return static_cast<double>(std::bit_cast<float>(bits));
}

struct Data {
  explicit Data(const Shape& of)
      : input(normal(count_before(of), 1)),
        weight(normal(count_weights(of), 2, 0.1F)),
        bias(normal(static_cast<std::size_t>(of.outputs), 3)),
        gradient(normal(count_after(of), 4)) {}
  Floats input, weight, bias, gradient;
};

/// Calls with the places of an input, a weight and an output that meet, wherever the input is not padding.
template <class Call>
void each_product(const Shape& of, const Call& call) {
  const int inputs = of.inputs, outputs = of.outputs;
  const auto place = [](const int* size, std::int64_t n, const int* at) {
    return ((n * size[0] + at[0]) * size[1] + at[1]) * size[2] + at[2];
  };
  const int size[] = {size_after(of, 0), size_after(of, 1), size_after(of, 2)};
  for (std::int64_t n = 0; n < of.samples; ++n)
    for (int to = 0; to < size[0] * size[1] * size[2]; ++to)
      for (int tap = 0; tap < of.kernel[0] * of.kernel[1] * of.kernel[2]; ++tap) {
        const int t[] = {tap / of.kernel[2] / of.kernel[1], tap / of.kernel[2] % of.kernel[1],
                         tap % of.kernel[2]};
        const int o[] = {to / size[2] / size[1], to / size[2] % size[1], to % size[2]};
        int at[3];
        bool is_inside = true;
        for (int i = 0; i < 3; ++i) {
          at[i] = o[i] + t[i] - of.before[i];
          is_inside = is_inside && at[i] >= 0 && at[i] < of.size[i];
        }
        if (!is_inside) continue;
        for (int a = 0; a < inputs; ++a)
          for (int b = 0; b < outputs; ++b)
            call(static_cast<std::size_t>(place(of.size, n, at) * inputs + a),
                 static_cast<std::size_t>(
                     ((b * inputs + a) * of.kernel[0] * of.kernel[1] * of.kernel[2]) + tap),
                 static_cast<std::size_t>(place(size, n, o) * outputs + b));
      }
}

/// In float64, with factors rounded to tf32.
struct Reference {
  Reference(const Shape& of, const Data& data)
      : output(count_after(of), 0),
        input_gradient(count_before(of), 0),
        weight_gradient(count_weights(of), 0),
        bias_gradient(data.bias.size(), 0) {
    const auto at_most_zero = static_cast<double>(of.slope);
    each_product(of, [&](std::size_t from, std::size_t weight, std::size_t to) {
      output[to] += rounded(data.input[from]) * rounded(data.weight[weight]);
    });
    Doubles slopes(output.size());
    for (std::size_t i = 0; i < output.size(); ++i) {
      output[i] += static_cast<double>(data.bias[i % data.bias.size()]);
      if (output[i] <= 0) output[i] *= at_most_zero;
      slopes[i] = rounded(output[i] > 0 ? data.gradient[i] : data.gradient[i] * of.slope);
      bias_gradient[i % data.bias.size()] += slopes[i];
    }
    each_product(of, [&](std::size_t from, std::size_t weight, std::size_t to) {
      input_gradient[from] += slopes[to] * rounded(data.weight[weight]);
      weight_gradient[weight] += slopes[to] * rounded(data.input[from]);
    });
  }
  Doubles output, input_gradient, weight_gradient, bias_gradient;
};

constexpr float before = 0.25F;  // of weight gradients, before the passes add to them

struct Device {
  Device(const Shape& shape, const Data& data)
      : of(shape),
        input(data.input),
        weight(data.weight),
        bias(data.bias),
        gradient(data.gradient),
        output(count_after(shape) * sizeof(float)),
        input_gradient(count_before(shape) * sizeof(float)),
        weight_gradient(Floats(count_weights(shape), before)),
        bias_gradient(Floats(data.bias.size(), before)),
        work(static_cast<std::size_t>(sagips_cuda_conv3d_work_bytes(shape))) {}
  void run() {
    EXPECT_EQ(sagips_cuda_conv3d_outputs(of, input.data(), weight.data(), bias.data(),
                                         output.data(), work.data(), nullptr),
              0);
    EXPECT_EQ(sagips_cuda_conv3d_input_gradient(of, weight.data(), output.data(), gradient.data(),
                                                input_gradient.data(), work.data(), nullptr),
              0);
    EXPECT_EQ(sagips_cuda_conv3d_weight_gradient(of, input.data(), output.data(), gradient.data(),
                                                 weight_gradient.data(), bias_gradient.data(),
                                                 work.data(), nullptr),
              0);
    for (const Memory* each : {&output, &input_gradient, &weight_gradient, &bias_gradient, &work})
      EXPECT_TRUE(each->end_is_untouched());
  }
  Shape of;
  Memory input, weight, bias, gradient, output, input_gradient, weight_gradient, bias_gradient,
      work;
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

/// Factors are rounded in the reference as well: what remains are sums in float32.
void compare(const Shape& of) {
  SCOPED_TRACE(name(of));
  const Data data(of);
  const Reference want(of, data);
  Device device(of, data);
  device.run();
  EXPECT_LE(distance(device.output.floats(), want.output), 2e-6);
  EXPECT_LE(distance(device.input_gradient.floats(), want.input_gradient), 2e-6);
  EXPECT_LE(distance(device.weight_gradient.floats(), want.weight_gradient, before), 2e-6);
  EXPECT_LE(distance(device.bias_gradient.floats(), want.bias_gradient, before), 2e-6);
}

// The calorimeter's kernels and channels on small images.
TEST(Conv3d, LayersOfTheCalorimeter) {
  compare({1, 8, 8, {8, 9, 11}, {6, 6, 8}, {0, 0, 0}, {0, 0, 0}, 0});
  compare({2, 8, 6, {4, 5, 8}, {4, 4, 6}, {2, 2, 1}, {2, 2, 1}, 0});
  compare({1, 6, 6, {5, 4, 10}, {4, 4, 6}, {2, 2, 1}, {2, 2, 1}, 0});
  compare({1, 6, 6, {5, 4, 11}, {3, 3, 5}, {1, 1, 0}, {1, 1, 0}, 0});
  compare({2, 6, 6, {5, 4, 9}, {3, 3, 3}, {1, 1, 0}, {1, 1, 0}, 0});
  compare({3, 6, 1, {7, 8, 9}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}, 0});
  compare({2, 1, 16, {6, 5, 9}, {5, 6, 6}, {2, 2, 2}, {2, 3, 3}, 0.3F});
  compare({1, 16, 8, {6, 7, 8}, {5, 6, 6}, {0, 0, 1}, {0, 0, 1}, 0.3F});
  compare({2, 8, 8, {6, 7, 9}, {5, 6, 6}, {0, 0, 0}, {0, 0, 0}, 0.3F});
}

TEST(Conv3d, EveryKernelAlongZAndOddChannels) {
  const int channels[] = {3, 12, 1, 2, 5, 10, 4, 1};
  for (int taps = 1; taps <= 8; ++taps)
    compare({1,
             channels[taps - 1],
             channels[8 - taps],
             {3, 4, 9 + taps},
             {2, 1, taps},
             {1, 0, 2},
             {0, 1, 3},
             taps % 2 == 0 ? 1.0F : 0.5F});
}

TEST(Conv3d, OneNumber) {
  compare({1, 1, 1, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, 1});
  compare({1, 2, 2, {1, 1, 1}, {8, 8, 8}, {4, 3, 8}, {3, 4, 2}, 1});
}

// More tiles than multiprocessors along every side, and the other way round.
TEST(Conv3d, ManyTilesAndSmallMemory) {
  const Shape of{2, 6, 8, {19, 17, 17}, {3, 2, 3}, {1, 0, 1}, {1, 1, 0}, 0.2F};
  for (const size_t limit : {232448, 101376, 24576}) {
    const Card card(limit, limit == 101376 ? 132 : 2);
    compare(of);
  }
}

TEST(Conv3d, SecondCallGivesTheSameBitsAndAdds) {
  const Shape of{2, 6, 8, {9, 8, 9}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, 0.2F};
  const Data data(of);
  Device device(of, data);
  const auto run = [&] {
    device.weight_gradient = Memory(Floats(count_weights(of), 0));
    device.bias_gradient = Memory(Floats(data.bias.size(), 0));
    device.run();
    return device.weight_gradient.floats();
  };
  const Floats first = run(), output = device.output.floats();
  const Floats input_gradient = device.input_gradient.floats();
  EXPECT_EQ(run(), first);
  EXPECT_EQ(device.output.floats(), output);
  EXPECT_EQ(device.input_gradient.floats(), input_gradient);
  device.run();
  const Floats twice = device.weight_gradient.floats();
  for (std::size_t i = 0; i < first.size(); ++i) ASSERT_EQ(twice[i], first[i] + first[i]);
}

TEST(Conv3d, GoesWithoutBias) {
  const Shape of{1, 8, 8, {4, 4, 9}, {2, 2, 3}, {0, 0, 0}, {0, 0, 0}, 1};
  Data data(of);
  std::fill(data.bias.begin(), data.bias.end(), 0.0F);
  Device with(of, data), without(of, data);
  with.run();
  EXPECT_EQ(sagips_cuda_conv3d_outputs(of, without.input.data(), without.weight.data(), nullptr,
                                       without.output.data(), without.work.data(), nullptr),
            0);
  EXPECT_EQ(sagips_cuda_conv3d_weight_gradient(
                of, without.input.data(), nullptr, without.gradient.data(),
                without.weight_gradient.data(), nullptr, without.work.data(), nullptr),
            0);
  EXPECT_EQ(without.output.floats(), with.output.floats());
  EXPECT_EQ(without.weight_gradient.floats(), with.weight_gradient.floats());
  EXPECT_EQ(without.bias_gradient.floats(), Floats(8, before));
}

TEST(Conv3d, RefusesOtherShapes) {
  const Shape fine{1, 8, 8, {9, 9, 9}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, 0.2F};
  const auto is_refused = [&](auto change) {
    Shape shape = fine;
    change(shape);
    float number = 0;
    return sagips_cuda_conv3d_work_bytes(shape) == 0 &&
           sagips_cuda_conv3d_outputs(shape, &number, &number, &number, &number, &number,
                                      nullptr) != 0 &&
           sagips_cuda_conv3d_input_gradient(shape, &number, &number, &number, &number, &number,
                                             nullptr) != 0 &&
           sagips_cuda_conv3d_weight_gradient(shape, &number, &number, &number, &number, &number,
                                              &number, nullptr) != 0;
  };
  EXPECT_GT(sagips_cuda_conv3d_work_bytes(fine), 0);
  EXPECT_TRUE(is_refused([](Shape& shape) { shape.inputs = 17; }));
  EXPECT_TRUE(is_refused([](Shape& shape) { shape.outputs = 0; }));
  EXPECT_TRUE(is_refused([](Shape& shape) { shape.kernel[1] = 9; }));
  EXPECT_TRUE(is_refused([](Shape& shape) { shape.before[0] = -1; }));
  EXPECT_TRUE(is_refused([](Shape& shape) { shape.after[2] = 9; }));
  EXPECT_TRUE(is_refused([](Shape& shape) { shape.samples = -1; }));
  EXPECT_TRUE(is_refused([](Shape& shape) { shape.slope = 1.5F; }));
  EXPECT_TRUE(is_refused([](Shape& shape) { shape.size[2] = 0; }));
  EXPECT_TRUE(is_refused([](Shape& shape) { shape.size[0] = 1, shape.kernel[0] = 8; }));
  Shape none = fine;
  none.samples = 0;
  EXPECT_EQ(sagips_cuda_conv3d_outputs(none, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
            0);
}

}  // namespace
