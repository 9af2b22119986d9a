#pragma once

// g++ warns of vectors as results of functions; these functions are always inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace sagips::kernels {

/// A vector, or a number, from memory that is aligned for numbers only. Always part of the function that asks,
/// whose instructions it has.
template <class Value>
[[gnu::always_inline]] inline Value load(const float* place) {
  Value value;
  __builtin_memcpy(&value, place, sizeof value);
  return value;
}
template <class Value>
[[gnu::always_inline]] inline void store(float* place, const Value& value) {
  __builtin_memcpy(place, &value, sizeof value);
}

}  // namespace sagips::kernels
