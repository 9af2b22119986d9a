#pragma once
#include <cstdint>
#include <span>

namespace sagips::comm {

/// values += other
void add(std::span<float> values, std::span<const float> other);

/// values *= factor
void scale(std::span<float> values, float factor);

/// into = (parts[0] + parts[1] + ...) / parts.size(), added in this order in one pass over memory.
/// A part may be `into` itself.
void mean_of(std::span<const float* const> parts, std::span<float> into);

/// Numbers of 16 bits: IEEE 754's (11 bits of precision, 6e-8 to 65504), in which those beyond have 4 bits of
/// precision in place of infinity and NaN, or the upper half of a float32 (8 bits of precision, its range).
enum class HalfFormat { float16, bfloat16 };

/// The nearest such numbers, of two the even one; what is beyond the largest becomes that. values: finite
void to_halves(HalfFormat format, std::span<const float> values, std::span<std::uint16_t> into);
void from_halves(HalfFormat format, std::span<const std::uint16_t> values, std::span<float> into);

}  // namespace sagips::comm
