#include "sagips/comm/arithmetic.hpp"

#include <algorithm>
#include <array>
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

}  // namespace

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
