#include "sagips/kernels/pair_passes.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/numbers.hpp"

namespace sagips::kernels {
namespace {

using Kind = PanelActivation::Kind;

constexpr std::size_t index_of(std::int64_t number) { return static_cast<std::size_t>(number); }

/// Plain loops over pairs in double, of a first layer and one behind it, ELU and nothing.
class PlainPairs {
 public:
  PlainPairs(const PairShape& shape, const std::vector<float>& weights)
      : shape_(shape), weights_(weights) {}

  double f(const float* a, const float* b, std::int64_t output) const {
    double sum =
        static_cast<double>(weights_[index_of(shape_.widths[0] * shape_.widths[1] + output)]);
    for (std::int64_t k = 0; k < shape_.widths[0]; ++k) {
      const double z = static_cast<double>(a[k]) + static_cast<double>(b[k]);
      sum += static_cast<double>(weights_[index_of(output * shape_.widths[0] + k)]) *
             (z > 0 ? z : std::expm1(z));
    }
    return sum;
  }
  double message(const std::vector<float>& halves, const std::vector<std::uint8_t>& present,
                 std::int64_t event, std::int64_t receiver, std::int64_t output) const {
    const auto is_there = [&](std::int64_t i) {
      return present.empty() || present[index_of(event * shape_.particles + i)] != 0;
    };
    const auto half = [&](std::int64_t i, std::int64_t which) {
      return halves.data() + event * shape_.half_numbers() + (2 * i + which) * shape_.widths[0];
    };
    double sum = 0;
    for (std::int64_t sender = 0; sender < shape_.particles; ++sender)
      if (sender != receiver && is_there(sender) && is_there(receiver))
        sum += f(half(receiver, 0), half(sender, 1), output);
    return sum;
  }

 private:
  const PairShape& shape_;
  const std::vector<float>& weights_;
};

// Every kind of products, numbers of particles around whole blocks of rows, widths around whole vectors.
TEST(PairPasses, AreSumsOverAllPairs) {
  for (const std::string& library : available_products())
    for (const std::int64_t particles : {2, 7, 8, 17})
      for (const auto& [first, last] : {std::pair{5, 3}, std::pair{16, 16}, std::pair{33, 17}}) {
        const PairShape shape{particles, {first, last}, {{Kind::elu}, {Kind::leaky_relu, 1}}, true};
        const PairPasses passes(shape, products(library));
        const std::vector<float> weights = testing::numbers(passes.weights(), 1),
                                 halves = testing::numbers(3 * shape.half_numbers(), 2);
        std::vector<std::uint8_t> present(index_of(3 * particles), 1);
        for (std::int64_t i = 0; i < 2 * particles; ++i) present[index_of(i)] = i % 3 != 1;
        std::vector<float> messages(index_of(3 * shape.message_numbers()));
        passes.forward({3, halves.data(), present.data()}, passes.pack(weights.data()),
                       messages.data());
        const PlainPairs plain(shape, weights);
        for (std::int64_t i = 0; i < 3 * particles; ++i)
          for (std::int64_t k = 0; k < last; ++k) {
            const double expected = plain.message(halves, present, i / particles, i % particles, k);
            ASSERT_NEAR(messages[index_of(i * last + k)], expected, 2e-5 * (1 + std::abs(expected)))
                << library << " " << particles << " " << first << " " << last;
          }
      }
}

// Along a random direction the loss, which is linear in messages, changes as the gradients say.
TEST(PairPasses, GradientsAreDifferencesOfSums) {
  const PairShape shape{11, {20, 9}, {{Kind::elu}, {Kind::leaky_relu, 1}}, true};
  const PairPasses passes(shape, products(available_products().front()));
  std::vector<float> weights = testing::numbers(passes.weights(), 1),
                     halves = testing::numbers(2 * shape.half_numbers(), 2);
  const std::vector<float> slopes = testing::numbers(2 * shape.message_numbers(), 3);
  std::vector<std::uint8_t> present(22, 1);
  present[3] = present[12] = 0;
  std::vector<float> of_halves(halves.size()), of_weights(weights.size(), 1.0F);
  passes.backward({2, halves.data(), present.data()}, passes.pack(weights.data()), slopes.data(),
                  of_halves.data(), of_weights.data());
  const auto loss = [&](const std::vector<float>& with, const std::vector<float>& from) {
    const PlainPairs plain(shape, with);
    double sum = 0;
    for (std::int64_t i = 0; i < 22; ++i)
      for (std::int64_t k = 0; k < 9; ++k)
        sum += static_cast<double>(slopes[index_of(i * 9 + k)]) *
               plain.message(from, present, i / 11, i % 11, k);
    return sum;
  };
  // Steps of 2^-10 are exact in float32.
  const float step = 0x1p-10F;
  const auto differs = [&](std::vector<float>& numbers, const std::vector<float>& gradient,
                           float offset) {
    for (std::size_t i = 0; i < numbers.size(); i += 7) {
      const float kept = numbers[i];
      numbers[i] = kept + step;
      const double above = loss(weights, halves);
      numbers[i] = kept - step;
      const double below = loss(weights, halves);
      const double width = static_cast<double>(kept + step) - static_cast<double>(kept - step);
      numbers[i] = kept;
      const double expected = (above - below) / width;
      EXPECT_NEAR(gradient[i] - offset, expected, 1e-4 * (1 + std::abs(expected))) << i;
    }
  };
  differs(halves, of_halves, 0);
  differs(weights, of_weights, 1);  // gradients are added to what is there
}

}  // namespace
}  // namespace sagips::kernels
