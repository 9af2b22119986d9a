#include "sagips/kernels/panel.hpp"

#include "sagips/core/vector_widths.hpp"

// g++ warns of vectors as results of functions; these functions are always inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace sagips::kernels {

namespace {

// The widest vector of any clone; narrower ones take it in parts.
using Vector [[gnu::vector_size(64)]] = float;
constexpr std::size_t lanes = 16, strip = 4;  // vectors of a strip: their sums stay in registers

template <class Value>
constexpr std::size_t numbers_in = sizeof(Value) / sizeof(float);

template <class Value>
[[gnu::always_inline]] inline Value load(const float* place) {
  Value value;
  __builtin_memcpy(&value, place, sizeof value);  // places are aligned for numbers only
  return value;
}
template <class Value>
[[gnu::always_inline]] inline void store(float* place, const Value& value) {
  __builtin_memcpy(place, &value, sizeof value);
}
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

template <bool learns, bool late>
[[gnu::always_inline]] inline void start(const Panel& panel, const float* weight,
                                         float* weight_gradient) {
  each_column(
      panel.width, [&]<class Value, std::size_t count>(
                       std::size_t column) __attribute__((always_inline)) {
        Value weight_sums[count] = {}, bias_sums[count] = {};
        for (std::size_t row = 0; row < panel.rows; ++row) {
          const std::size_t place = row * panel.width + column;
          const float factor = learns ? panel.factors[row] : 1.0F;
          const float above = late ? 1.0F : factor, below = above * panel.negative_slope;
          for (std::size_t k = 0; k < count; ++k) {
            const std::size_t offset = k * numbers_in<Value>;
            const auto activation = load<Value>(panel.activations + place + offset);
            const Value slope = activation > 0 ? Value{} + above : Value{} + below;
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

template <bool learns, bool late>
[[gnu::always_inline]] inline void through(const Panel& panel) {
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
            const Value passed = activation > 0 ? delta : delta * panel.negative_slope;
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
  const float negative_slope = panel.negative_slope;
  for (std::size_t row = 0; row < panel.rows; ++row) {
    float* __restrict const values = panel.activations + row * panel.width;
    for (std::size_t j = 0; j < panel.width; ++j) {
      const float sum = values[j] + bias[j];
      values[j] = sum > 0 ? sum : sum * negative_slope;
    }
  }
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
  if (!panel.factors)
    start<false, true>(panel, weight, weight_gradient);
  else if (panel.late)
    start<true, true>(panel, weight, weight_gradient);
  else
    start<true, false>(panel, weight, weight_gradient);
}

SAGIPS_VECTOR_WIDTHS void through_activation(const Panel& panel) {
  if (!panel.factors)
    through<false, false>(panel);
  else if (panel.late)
    through<true, true>(panel);
  else
    through<true, false>(panel);
}

}  // namespace sagips::kernels
