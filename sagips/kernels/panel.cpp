#include "sagips/kernels/panel.hpp"

#include <bit>
#include <cstdint>

#include "sagips/core/vector_widths.hpp"
#include "sagips/kernels/vectors.hpp"

namespace sagips::kernels {

namespace {

// The widest vector of any clone; narrower ones take it in parts.
using Vector [[gnu::vector_size(64)]] = float;
constexpr std::size_t lanes = 16, strip = 4;  // vectors of a strip: their sums stay in registers

template <class Value>
constexpr std::size_t numbers_in = sizeof(Value) / sizeof(float);

template <class Value>
[[gnu::always_inline]] inline void add(float* place, const Value& value) {
  store<Value>(place, load<Value>(place) + value);
}

// body<Value, count>(column): wide strips of vectors first, then narrow ones, then numbers.
template <class Body>
[[gnu::always_inline]] inline void each_column(std::size_t width, const Body& body) {
  std::size_t column = 0;
  for (; column + 2 * strip * lanes <= width; column += 2 * strip * lanes)
    body.template operator()<Vector, 2 * strip>(column);
  for (; column + strip * lanes <= width; column += strip * lanes)
    body.template operator()<Vector, strip>(column);
  for (; column + lanes <= width; column += lanes) body.template operator()<Vector, 1>(column);
  for (; column < width; ++column) body.template operator()<float, 1>(column);
}

using Kind = PanelActivation::Kind;

/// exp(x) to 3e-7 of itself for -87 <= x <= 88, beyond that its value there; without a branch, so that
/// loops are vectorised. 2^n times the Taylor series of what is left, |rest| <= ln(2) / 2.
[[gnu::always_inline]] inline float exponential(float x) {
  constexpr float log2_e = 1.44269504F, ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F;
  constexpr float rounds = 12582912.0F;  // 1.5 2^23: what is added to it loses its fraction
  x = x < -87.0F ? -87.0F : x;
  x = x > 88.0F ? 88.0F : x;
  const float shifted = x * log2_e + rounds, n = shifted - rounds;
  const float r = (x - n * ln2_high) - n * ln2_low;
  const float series =
      1.0F + r * (1.0F + r * (0.5F + r * (1.0F / 6 +
                                          r * (1.0F / 24 + r * (1.0F / 120 + r * (1.0F / 720))))));
  const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(n) + 127) << 23;
  return series * std::bit_cast<float>(bits);
}

// source: Klambauer et al., arXiv 1706.02515
constexpr float selu_scale = 1.05070099F, selu_alpha = 1.67326324F;

template <Kind kind>
[[gnu::always_inline]] inline float activated(float sum, float negative_slope) {
  if constexpr (kind == Kind::leaky_relu) return sum > 0 ? sum : sum * negative_slope;
  if constexpr (kind == Kind::elu) return sum > 0 ? sum : exponential(sum) - 1;
  if constexpr (kind == Kind::selu)
    return selu_scale * (sum > 0 ? sum : selu_alpha * (exponential(sum) - 1));
  if constexpr (kind == Kind::sigmoid) return 1 / (1 + exponential(-sum));
  return 1 - 2 / (1 + exponential(2 * sum));
}

/// The slope where the function has this value, times a number.
template <Kind kind, class Value>
[[gnu::always_inline]] inline Value sloped(const Value& value, const Value& number,
                                           float negative_slope) {
  if constexpr (kind == Kind::leaky_relu) return value > 0 ? number : number * negative_slope;
  if constexpr (kind == Kind::elu) return value > 0 ? number : number * (value + 1.0F);
  if constexpr (kind == Kind::selu)
    return value > 0 ? number * selu_scale : number * (value + selu_scale * selu_alpha);
  if constexpr (kind == Kind::sigmoid) return number * (value * (1.0F - value));
  return number * (1.0F - value * value);
}

template <Kind kind>
[[gnu::always_inline]] inline void activate_as(const Panel& panel, const float* bias) {
  const float negative_slope = panel.activation.negative_slope;
  for (std::size_t row = 0; row < panel.rows; ++row) {
    float* __restrict const values = panel.activations + row * panel.width;
    for (std::size_t j = 0; j < panel.width; ++j)
      values[j] = activated<kind>(values[j] + bias[j], negative_slope);
  }
}

// body<kind>() for the panel's kind.
template <class Body>
[[gnu::always_inline]] inline void with_kind(const Panel& panel, const Body& body) {
  switch (panel.activation.kind) {
    case Kind::leaky_relu:
      return body.template operator()<Kind::leaky_relu>();
    case Kind::elu:
      return body.template operator()<Kind::elu>();
    case Kind::selu:
      return body.template operator()<Kind::selu>();
    case Kind::tanh:
      return body.template operator()<Kind::tanh>();
    case Kind::sigmoid:
      return body.template operator()<Kind::sigmoid>();
  }
}

template <Kind kind, bool learns, bool late>
[[gnu::always_inline]] inline void start(const Panel& panel, const float* weight,
                                         float* weight_gradient) {
  const float negative_slope = panel.activation.negative_slope;
  each_column(
      panel.width, [&]<class Value, std::size_t count>(
                       std::size_t column) __attribute__((always_inline)) {
        Value weight_sums[count] = {}, bias_sums[count] = {};
        for (std::size_t row = 0; row < panel.rows; ++row) {
          const std::size_t place = row * panel.width + column;
          const float factor = learns ? panel.factors[row] : 1.0F;
          const float counts = late ? 1.0F : factor;
          for (std::size_t k = 0; k < count; ++k) {
            const std::size_t offset = k * numbers_in<Value>;
            const auto activation = load<Value>(panel.activations + place + offset);
            const Value slope = sloped<kind, Value>(activation, Value{} + counts, negative_slope);
            const Value delta = load<Value>(weight + column + offset) * slope;
            store(panel.delta + place + offset, delta);
            if constexpr (learns) {
              weight_sums[k] += activation * factor;
              bias_sums[k] += late ? delta * factor : delta;
            }
          }
        }
        if constexpr (learns)
          for (std::size_t k = 0; k < count; ++k) {
            add(weight_gradient + column + k * numbers_in<Value>, weight_sums[k]);
            add(panel.bias_gradient + column + k * numbers_in<Value>, bias_sums[k]);
          }
      });
}

template <Kind kind, bool learns, bool late>
[[gnu::always_inline]] inline void through(const Panel& panel) {
  const float negative_slope = panel.activation.negative_slope;
  each_column(
      panel.width, [&]<class Value, std::size_t count>(
                       std::size_t column) __attribute__((always_inline)) {
        Value bias_sums[count] = {};
        for (std::size_t row = 0; row < panel.rows; ++row) {
          const std::size_t place = row * panel.width + column;
          const float factor = learns ? panel.factors[row] : 1.0F;
          for (std::size_t k = 0; k < count; ++k) {
            const std::size_t offset = k * numbers_in<Value>;
            const auto activation = load<Value>(panel.activations + place + offset);
            const auto delta = load<Value>(panel.delta + place + offset);
            const Value passed = sloped<kind, Value>(activation, delta, negative_slope);
            store(panel.delta + place + offset, passed);
            if constexpr (learns) bias_sums[k] += late ? passed * factor : passed;
            if constexpr (late)
              store<Value>(panel.activations + place + offset, activation * factor);
          }
        }
        if constexpr (learns)
          for (std::size_t k = 0; k < count; ++k)
            add(panel.bias_gradient + column + k * numbers_in<Value>, bias_sums[k]);
      });
}

}  // namespace

SAGIPS_VECTOR_WIDTHS void activate(const Panel& panel, const float* bias) {
  with_kind(
      panel, [&]<Kind kind>() __attribute__((always_inline)) { activate_as<kind>(panel, bias); });
}

SAGIPS_VECTOR_WIDTHS void weighted_sums(const float* values, const float* weight, float bias,
                                        float* output, std::size_t rows, std::size_t width) {
  for (std::size_t row = 0; row < rows; ++row, values += width) {
    Vector parts[strip] = {};  // sums of their own: additions that do not wait for each other
    float rest = bias;
    std::size_t j = 0;
    for (; j + strip * lanes <= width; j += strip * lanes)
      for (std::size_t k = 0; k < strip; ++k)
        parts[k] += load<Vector>(values + j + k * lanes) * load<Vector>(weight + j + k * lanes);
    for (; j + lanes <= width; j += lanes)
      parts[0] += load<Vector>(values + j) * load<Vector>(weight + j);
    for (; j < width; ++j) rest += values[j] * weight[j];
    const Vector sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    float pairs[lanes / 2];
    for (std::size_t lane = 0; lane < lanes / 2; ++lane)
      pairs[lane] = sum[lane] + sum[lane + lanes / 2];
    output[row] = ((pairs[0] + pairs[4]) + (pairs[1] + pairs[5])) +
                  ((pairs[2] + pairs[6]) + (pairs[3] + pairs[7])) + rest;
  }
}

SAGIPS_VECTOR_WIDTHS void start_delta(const Panel& panel, const float* weight,
                                      float* weight_gradient) {
  with_kind(
      panel, [&]<Kind kind>() __attribute__((always_inline)) {
        if (!panel.factors)
          start<kind, false, true>(panel, weight, weight_gradient);
        else if (panel.late)
          start<kind, true, true>(panel, weight, weight_gradient);
        else
          start<kind, true, false>(panel, weight, weight_gradient);
      });
}

SAGIPS_VECTOR_WIDTHS void through_activation(const Panel& panel) {
  with_kind(
      panel, [&]<Kind kind>() __attribute__((always_inline)) {
        if (!panel.factors)
          through<kind, false, false>(panel);
        else if (panel.late)
          through<kind, true, true>(panel);
        else
          through<kind, true, false>(panel);
      });
}

}  // namespace sagips::kernels
