#pragma once
#include <span>

namespace sagips::comm {

/// values += other
void add(std::span<float> values, std::span<const float> other);

/// values *= factor
void scale(std::span<float> values, float factor);

/// into = (parts[0] + parts[1] + ...) / parts.size(), added in this order in one pass over memory.
/// A part may be `into` itself.
void mean_of(std::span<const float* const> parts, std::span<float> into);

}  // namespace sagips::comm
