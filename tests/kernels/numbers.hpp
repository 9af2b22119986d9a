#pragma once
#include <cstdint>
#include <vector>

#include "sagips/core/random.hpp"

namespace sagips::testing {

/// Numbers in (-1, 1) that a seed names.
inline std::vector<float> numbers(std::int64_t count, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  core::RandomStream(seed, "test numbers").uniform(0, 0, std::span<float>(values));
  for (float& value : values) value = 2 * value - 1;
  return values;
}

}  // namespace sagips::testing
