#include "sagips/comm/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

#include "sagips/core/vector_widths.hpp"

// A loop whose elements do not depend on each other, which a compiler cannot see.
#ifdef __clang__
#define SAGIPS_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SAGIPS_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace sagips::comm {

namespace {

constexpr std::size_t block = 1024;  // 4 KiB: stays in the first-level cache

SAGIPS_VECTOR_WIDTHS void add_to(float* __restrict to, const float* __restrict from,
                                 std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) to[i] += from[i];
}

SAGIPS_VECTOR_WIDTHS void multiply(float* values, std::size_t size, float factor) {
  for (std::size_t i = 0; i < size; ++i) values[i] *= factor;
}

// Few parts: all streams in one loop, which beats a pass for each. A part is `to` itself or does not
// touch it, and element i needs nothing but elements i.
SAGIPS_VECTOR_WIDTHS void mean_of_two(const float* a, const float* b, float* to, std::size_t size) {
  SAGIPS_INDEPENDENT
  for (std::size_t i = 0; i < size; ++i) to[i] = (a[i] + b[i]) * 0.5F;
}

SAGIPS_VECTOR_WIDTHS void mean_of_three(const float* a, const float* b, const float* c, float* to,
                                        std::size_t size) {
  SAGIPS_INDEPENDENT
  for (std::size_t i = 0; i < size; ++i) to[i] = (a[i] + b[i] + c[i]) * (1.0F / 3.0F);
}

SAGIPS_VECTOR_WIDTHS void mean_of_four(const float* a, const float* b, const float* c,
                                       const float* d, float* to, std::size_t size) {
  SAGIPS_INDEPENDENT
  for (std::size_t i = 0; i < size; ++i) to[i] = (a[i] + b[i] + c[i] + d[i]) * 0.25F;
}

void mean_of_many(std::span<const float* const> parts, std::span<float> into) {
  alignas(64) std::array<float, block> sum;
  for (std::size_t first = 0; first < into.size(); first += block) {
    const std::size_t size = std::min(block, into.size() - first);
    std::copy_n(parts[0] + first, size, sum.data());
    for (std::size_t k = 1; k < parts.size(); ++k) add_to(sum.data(), parts[k] + first, size);
    multiply(sum.data(), size, 1.0F / static_cast<float>(parts.size()));
    std::copy_n(sum.data(), size, into.data() + first);
  }
}

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

// The codes that IEEE 754 keeps for what is not finite go on to the largest floats, with 3 bits behind the first.
constexpr std::uint32_t least_normal = 0x38800000, beyond = 0x47800000;  // 2^-14, 2^16
constexpr std::uint32_t code_beyond = 0x7c00, last_code = code_beyond + 8 * 112 - 1;

// Rounds magnitudes to nearest by adding just less than half of what is cut off, and the last bit that stays.
std::uint16_t to_float16(float value) {
  const float size = std::abs(value);
  const std::uint32_t bits = bits_of(size);
  // the steps below it, 2^-24, are those of float32 between 0.5 and 1, which does the rounding
  const std::uint32_t subnormal = bits_of(size + 0.5F) - bits_of(0.5F);
  const std::uint32_t normal = (bits + 0xfff + ((bits >> 13) & 1) - 0x38000000) >> 13;
  const std::uint32_t large =
      std::min(code_beyond + ((bits - beyond + 0x7ffff + ((bits >> 20) & 1)) >> 20), last_code);
  return static_cast<std::uint16_t>(
      ((bits_of(value) >> 16) & 0x8000) |
      (bits < least_normal ? subnormal : (bits < beyond ? normal : large)));
}

float from_float16(std::uint16_t value) {
  const std::uint32_t size = value & 0x7fffU, sign = (value & 0x8000U) << 16;
  const float subnormal = static_cast<float>(static_cast<std::int32_t>(size)) * 0x1p-24F;
  const std::uint32_t normal = (size << 13) + 0x38000000;
  const std::uint32_t large = ((size - code_beyond) << 20) + beyond;
  return std::bit_cast<float>(
      sign | (size < 0x400 ? bits_of(subnormal) : (size < code_beyond ? normal : large)));
}

std::uint16_t to_bfloat16(float value) {
  const std::uint32_t bits =
      bits_of(std::min(std::abs(value), std::bit_cast<float>(std::uint32_t{0x7f7f0000})));
  return static_cast<std::uint16_t>(((bits_of(value) >> 16) & 0x8000) |
                                    ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16));
}

SAGIPS_VECTOR_WIDTHS void all_to_float16(const float* values, std::uint16_t* into,
                                         std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) into[i] = to_float16(values[i]);
}

SAGIPS_VECTOR_WIDTHS void all_from_float16(const std::uint16_t* values, float* into,
                                           std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) into[i] = from_float16(values[i]);
}

SAGIPS_VECTOR_WIDTHS void all_to_bfloat16(const float* values, std::uint16_t* into,
                                          std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) into[i] = to_bfloat16(values[i]);
}

SAGIPS_VECTOR_WIDTHS void all_from_bfloat16(const std::uint16_t* values, float* into,
                                            std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    into[i] = std::bit_cast<float>(static_cast<std::uint32_t>(values[i]) << 16);
}

}  // namespace

void to_halves(HalfFormat format, std::span<const float> values, std::span<std::uint16_t> into) {
  (format == HalfFormat::float16 ? all_to_float16 : all_to_bfloat16)(values.data(), into.data(),
                                                                     values.size());
}

void from_halves(HalfFormat format, std::span<const std::uint16_t> values, std::span<float> into) {
  (format == HalfFormat::float16 ? all_from_float16 : all_from_bfloat16)(values.data(), into.data(),
                                                                         values.size());
}

void add(std::span<float> values, std::span<const float> other) {
  add_to(values.data(), other.data(), values.size());
}

void scale(std::span<float> values, float factor) {
  multiply(values.data(), values.size(), factor);
}

void mean_of(std::span<const float* const> parts, std::span<float> into) {
  switch (parts.size()) {
    case 2:
      return mean_of_two(parts[0], parts[1], into.data(), into.size());
    case 3:
      return mean_of_three(parts[0], parts[1], parts[2], into.data(), into.size());
    case 4:
      return mean_of_four(parts[0], parts[1], parts[2], parts[3], into.data(), into.size());
    default:
      return mean_of_many(parts, into);
  }
}

}  // namespace sagips::comm
