#include "tests/cuda/memory.hpp"

#include "sagips/cuda/pair_passes.cu"

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
using Bytes = std::vector<std::uint8_t>;

std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

struct Case {
  std::vector<int> widths;
  int particles;
  std::int64_t events = 1;
  int precision = SAGIPS_CUDA_TF32;
  int activation = SAGIPS_CUDA_ELU;
  float slope = 1;
  bool masked = false;

  sagips_cuda_pairs shape() const {
    sagips_cuda_pairs shape{events, particles,  static_cast<int>(widths.size()),
                            {},     activation, slope};
    std::copy(widths.begin(), widths.end(), shape.widths);
    return shape;
  }
  std::size_t rows() const { return size(events * particles); }
  std::size_t first() const { return size(widths.front()); }
  std::size_t last() const { return size(widths.back()); }
  std::string name() const {
    std::string text;
    for (const int width : widths) text += std::to_string(width) + "-";
    return text + " " + std::to_string(events) + " x " + std::to_string(particles) + " precision " +
           std::to_string(precision) + " activation " + std::to_string(activation) +
           (masked ? " masked" : "");
  }
};

Floats normal(std::size_t count, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> number(0, scale);
  Floats made(count);
  for (float& value : made) value = number(engine);
  return made;
}

/// Weights and biases behind the first layer, as a trained network's are scaled.
Floats weights_of(const Case& of) {
  Floats all;
  for (std::size_t layer = 1; layer < of.widths.size(); ++layer) {
    const std::size_t from = size(of.widths[layer - 1]), to = size(of.widths[layer]);
    const auto seed = static_cast<unsigned>(layer);
    const Floats weight = normal(from * to, seed, 1 / std::sqrt(static_cast<float>(from)));
    const Floats bias = normal(to, seed + 40, 0.3F);
    all.insert(all.end(), weight.begin(), weight.end());
    all.insert(all.end(), bias.begin(), bias.end());
  }
  return all;
}
/// The last particles of each event are absent, of the last one all.
Bytes present_of(const Case& of) {
  Bytes present(of.rows(), 1);
  for (std::size_t i = 0; of.masked && i < present.size(); ++i) {
    const auto event = static_cast<std::int64_t>(i) / of.particles;
    const auto particle = static_cast<std::int64_t>(i) % of.particles;
    present[i] = event + 1 < of.events && particle < of.particles * 2 / 3 - event ? 1 : 0;
  }
  return present;
}

struct Results {
  Doubles messages, halves_gradient, weight_gradients;
};

/// Plain loops over pairs in float64. Factors of products have the precision's bits, so that sums fall on the same
/// side of 0, where activations have kinks.
class Reference {
 public:
  Reference(const Case& of, const Floats& halves, const Floats& slopes)
      : of_(of), halves_(halves), slopes_(slopes), weights_(weights_of(of)) {
    results_.messages.assign(of.rows() * of.last(), 0);
    results_.halves_gradient.assign(halves.size(), 0);
    results_.weight_gradients.assign(weights_.size(), 0);
  }
  Results run() {
    const Bytes present = present_of(of_);
    for (std::size_t i = 0; i < of_.rows(); ++i)
      for (std::size_t j = 0; j < of_.rows(); ++j) {
        const bool same_event = i / size(of_.particles) == j / size(of_.particles);
        if (same_event && i != j && present[i] != 0 && present[j] != 0) add_pair(i, j);
      }
    return results_;
  }

 private:
  double activated(double x) const {
    const double slope = static_cast<double>(of_.slope);
    if (of_.activation == SAGIPS_CUDA_LEAKY_RELU) return x > 0 ? x : slope * x;
    if (of_.activation == SAGIPS_CUDA_ELU) return x > 0 ? x : slope * std::expm1(x);
    return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
  }
  double slope(double x) const {
    const double slope = static_cast<double>(of_.slope);
    if (of_.activation == SAGIPS_CUDA_LEAKY_RELU) return x > 0 ? 1 : slope;
    if (of_.activation == SAGIPS_CUDA_ELU) return x > 0 ? 1 : slope * std::exp(x);
    return 1.0507009873554805 * (x > 0 ? 1 : 1.6732632423543772 * std::exp(x));
  }
  double cut(double value, std::uint32_t added) const {
    if (of_.precision == SAGIPS_CUDA_FLOAT32) return value;
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return static_cast<double>(std::bit_cast<float>((bits + added) & 0xffffe000U));
  }
  /// Values and slopes are not rounded: what is cut off them is 0.72 of half the last bit in the mean.
  double factor(double value) const {
    return of_.precision == SAGIPS_CUDA_FLOAT32 ? value : cut(value * (1 + 0.72 / 2048), 0);
  }
  /// forward: times log2(e) where an exponential follows.
  double weight(std::size_t place, bool forward) const {
    const bool scaled = forward && of_.activation != SAGIPS_CUDA_LEAKY_RELU;
    const double scale = scaled ? 1.4426950408889634 : 1;
    return cut(static_cast<double>(weights_[place]) * scale, 0x1000U) / scale;
  }
  std::size_t width(std::size_t layer) const { return size(of_.widths[layer]); }

  void add_pair(std::size_t i, std::size_t j) {
    std::vector<Doubles> sums(1), values;
    for (std::size_t k = 0; k < of_.first(); ++k)
      sums[0].push_back(static_cast<double>(halves_[2 * i * of_.first() + k]) +
                        static_cast<double>(halves_[(2 * j + 1) * of_.first() + k]));
    std::vector<std::size_t> places{0, 0};
    for (std::size_t layer = 0;; ++layer) {
      values.emplace_back();
      for (const double sum : sums[layer]) values[layer].push_back(activated(sum));
      if (layer + 1 == of_.widths.size()) break;
      for (double& value : values[layer]) value = factor(value);
      const std::size_t from = width(layer), to = width(layer + 1), at = places[layer + 1];
      sums.emplace_back(to);
      for (std::size_t o = 0; o < to; ++o) {
        sums.back()[o] = static_cast<double>(weights_[at + from * to + o]);
        for (std::size_t k = 0; k < from; ++k)
          sums.back()[o] += weight(at + o * from + k, true) * values[layer][k];
      }
      places.push_back(at + (from + 1) * to);
    }
    pull_back(i, j, sums, values, places);
  }
  void pull_back(std::size_t i, std::size_t j, const std::vector<Doubles>& sums,
                 const std::vector<Doubles>& values, const std::vector<std::size_t>& places) {
    Doubles delta(of_.last());
    for (std::size_t k = 0; k < of_.last(); ++k) {
      results_.messages[i * of_.last() + k] += values.back()[k];
      delta[k] = factor(static_cast<double>(slopes_[i * of_.last() + k]) * slope(sums.back()[k]));
    }
    for (std::size_t layer = of_.widths.size() - 1; layer > 0; --layer) {
      const std::size_t from = width(layer - 1), at = places[layer];
      Doubles below(from, 0);
      for (std::size_t o = 0; o < delta.size(); ++o) {
        for (std::size_t k = 0; k < from; ++k) {
          below[k] += delta[o] * weight(at + o * from + k, false);
          results_.weight_gradients[at + o * from + k] += delta[o] * values[layer - 1][k];
        }
        results_.weight_gradients[at + from * delta.size() + o] += delta[o];
      }
      for (std::size_t k = 0; k < from; ++k) {
        below[k] *= slope(sums[layer - 1][k]);
        if (layer > 1) below[k] = factor(below[k]);
      }
      delta = below;
    }
    for (std::size_t k = 0; k < delta.size(); ++k) {
      results_.halves_gradient[2 * i * of_.first() + k] += delta[k];
      results_.halves_gradient[(2 * j + 1) * of_.first() + k] += delta[k];
    }
  }

  Case of_;
  const Floats &halves_, &slopes_;
  Floats weights_;
  Results results_;
};

constexpr float before = 0.25F;  // of weight gradients, before the passes add to them

struct Device {
  explicit Device(const Case& one)
      : of(one),
        halves(normal(one.rows() * 2 * one.first(), 98)),
        slopes(normal(one.rows() * one.last(), 99)),
        weights(weights_of(one)),
        present(present_of(one)),
        messages(slopes.size() * sizeof(float)),
        halves_gradient(halves.size() * sizeof(float)),
        weight_gradients(weights.size() * sizeof(float)),
        work(size(sagips_cuda_pairs_work_bytes(one.shape(), one.precision))) {
    for (std::size_t i = 0; i < present.size(); ++i)
      if (present[i] == 0) {  // what absent particles have shall not matter
        std::fill_n(halves.begin() + static_cast<std::ptrdiff_t>(2 * i * one.first()),
                    2 * one.first(), NAN);
        std::fill_n(slopes.begin() + static_cast<std::ptrdiff_t>(i * one.last()), one.last(), NAN);
      }
    std::fill_n(weight_gradients.data(), weights.size(), before);
  }
  void run() {
    const std::uint8_t* mask = of.masked ? present.data() : nullptr;
    EXPECT_EQ(sagips_cuda_pairs_forward(of.shape(), of.precision, halves.data(), mask,
                                        weights.data(), messages.data(), nullptr),
              0);
    EXPECT_EQ(sagips_cuda_pairs_backward(of.shape(), of.precision, halves.data(), mask,
                                         weights.data(), slopes.data(), halves_gradient.data(),
                                         weight_gradients.data(), work.data(), nullptr),
              0);
    for (const Memory* memory : {&messages, &halves_gradient, &weight_gradients, &work})
      EXPECT_TRUE(memory->end_is_untouched());
  }
  Case of;
  Floats halves, slopes, weights;
  Bytes present;
  Memory messages, halves_gradient, weight_gradients, work;
};

/// Distance of all numbers, relative to their size; not a number where one of them is none.
double distance(const Floats& have, const Doubles& want, double offset = 0) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double apart = static_cast<double>(have[i]) - offset - want[i];
    difference += apart * apart, norm += want[i] * want[i];
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

void compare(const Case& of) {
  SCOPED_TRACE(of.name());
  Device device(of);
  device.run();
  const Results want = Reference(of, device.halves, device.slopes).run();
  // Of values in tf32 come slopes that are off by as much.
  const double within = of.precision == SAGIPS_CUDA_FLOAT32 ? 2e-6 : 3e-4;
  EXPECT_LE(distance(device.messages.floats(), want.messages), within);
  EXPECT_LE(distance(device.halves_gradient.floats(), want.halves_gradient), within);
  EXPECT_LE(distance(device.weight_gradients.floats(), want.weight_gradients,
                     static_cast<double>(before)),
            within);
}

const std::vector<std::vector<int>> networks = {
    {30, 15, 10}, {5}, {50}, {20, 30}, {5, 1}, {50, 20}, {50, 25, 12}, {64, 64, 64}, {20, 30, 50}};

TEST(PairPasses, EveryNetworkAndPrecision) {
  for (const auto& widths : networks)
    for (const int precision : {SAGIPS_CUDA_FLOAT32, SAGIPS_CUDA_TF32})
      for (const int particles : {2, 7, 19})
        compare({widths, particles, particles < 16 ? 2 : 1, precision});
}

TEST(PairPasses, ManyParticles) {
  compare({{30, 15, 10}, 100, 1});
  compare({{30, 15, 10}, 30, 5, SAGIPS_CUDA_FLOAT32});
  compare({{33, 10}, 65, 1});
}

TEST(PairPasses, EveryActivation) {
  for (const int precision : {SAGIPS_CUDA_FLOAT32, SAGIPS_CUDA_TF32})
    for (const auto& widths : {std::vector<int>{30, 15, 10}, {20, 30}, {5}}) {
      compare({widths, 17, 2, precision, SAGIPS_CUDA_LEAKY_RELU, 0});
      compare({widths, 17, 2, precision, SAGIPS_CUDA_LEAKY_RELU, 0.2F});
      compare({widths, 17, 2, precision, SAGIPS_CUDA_ELU, 0.5F});
      compare({widths, 17, 2, precision, SAGIPS_CUDA_SELU, 1});
    }
}

TEST(PairPasses, AbsentParticles) {
  for (const auto& widths : networks)
    compare({widths, 20, 3, SAGIPS_CUDA_FLOAT32, SAGIPS_CUDA_ELU, 1, true});
  compare({{30, 15, 10}, 50, 2, SAGIPS_CUDA_TF32, SAGIPS_CUDA_LEAKY_RELU, 0, true});
}

TEST(PairPasses, AParticleAlone) {
  Device device(Case{{30, 15, 10}, 1, 3});
  device.run();
  EXPECT_EQ(device.messages.floats(), Floats(30, 0));
  EXPECT_EQ(device.halves_gradient.floats(), Floats(180, 0));
  EXPECT_EQ(device.weight_gradients.floats(), Floats(device.weights.size(), before));
}

TEST(PairPasses, OtherCards) {
  for (const size_t limit : {232448, 40000}) {
    const Card card(limit, 1);
    compare({{30, 15, 10}, 50, 5});  // more events than blocks
  }
  const Card card(232448, 132);
  compare({{30, 15, 10}, 50, 5});
}

TEST(PairPasses, SecondCallGivesTheSameBitsAndAdds) {
  const Case of{{50, 25, 12}, 25, 7};
  Device device(of), second(of);
  std::fill_n(device.weight_gradients.data(), device.weights.size(), 0.0F);
  std::fill_n(second.weight_gradients.data(), device.weights.size(), 0.0F);
  device.run();
  second.run();
  EXPECT_EQ(device.messages.floats(), second.messages.floats());
  EXPECT_EQ(device.halves_gradient.floats(), second.halves_gradient.floats());
  EXPECT_EQ(device.weight_gradients.floats(), second.weight_gradients.floats());
  device.run();
  const Floats first = second.weight_gradients.floats(), twice = device.weight_gradients.floats();
  for (std::size_t i = 0; i < first.size(); ++i) ASSERT_EQ(twice[i], first[i] + first[i]);
}

TEST(PairPasses, RefusesOtherShapes) {
  const auto is_refused = [](auto change, int precision = SAGIPS_CUDA_TF32) {
    sagips_cuda_pairs shape = Case{{30, 15, 10}, 5}.shape();
    change(shape);
    return sagips_cuda_pairs_work_bytes(shape, precision) == 0 &&
           sagips_cuda_pairs_forward(shape, precision, nullptr, nullptr, nullptr, nullptr,
                                     nullptr) != 0 &&
           sagips_cuda_pairs_backward(shape, precision, nullptr, nullptr, nullptr, nullptr, nullptr,
                                      nullptr, nullptr, nullptr) != 0;
  };
  EXPECT_TRUE(is_refused([](auto&) {}, SAGIPS_CUDA_BFLOAT16));
  EXPECT_TRUE(is_refused([](auto& shape) { shape.layers = 4; }));
  EXPECT_TRUE(is_refused([](auto& shape) { shape.layers = 0; }));
  EXPECT_TRUE(is_refused([](auto& shape) { shape.particles = 0; }));
  EXPECT_TRUE(is_refused([](auto& shape) { shape.particles = 3000; }));
  EXPECT_TRUE(is_refused([](auto& shape) { shape.widths[1] = 65; }));
  EXPECT_TRUE(is_refused([](auto& shape) { shape.activation = 3; }));
  EXPECT_TRUE(is_refused([](auto& shape) { shape.slope = -1; }));
  const sagips_cuda_pairs none = Case{{30, 15, 10}, 5, 0}.shape();
  EXPECT_GT(sagips_cuda_pairs_work_bytes(none, SAGIPS_CUDA_TF32), 0);
  EXPECT_EQ(sagips_cuda_pairs_forward(none, SAGIPS_CUDA_TF32, nullptr, nullptr, nullptr, nullptr,
                                      nullptr),
            0);
}

}  // namespace
