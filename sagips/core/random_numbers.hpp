#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "sagips/core/random.hpp"

namespace sagips::core {

/// Numbers of one sample of a stream, one after the other, for what is drawn in a way of its own.
class RandomNumbers {
 public:
  RandomNumbers(const RandomStream& random, std::int64_t sample)
      : random_(random), sample_(static_cast<std::uint32_t>(sample)) {}

  double between(double low, double high) {
    if (next_ == numbers_.size()) {
      random_.uniform(sample_, dimension_++, numbers_);
      next_ = 0;
    }
    return low + (high - low) * numbers_[next_++];
  }
  double normal() {
    return std::sqrt(-2 * std::log(between(0, 1))) * std::cos(2 * std::numbers::pi * between(0, 1));
  }
  /// By waiting times, so the mean should be small.
  std::int64_t poisson(double mean) {
    std::int64_t count = -1;
    double time = 0;
    do {
      time -= std::log(between(0, 1));
      ++count;
    } while (time < mean);
    return count;
  }

 private:
  const RandomStream& random_;
  std::uint32_t sample_, dimension_ = 0;
  std::array<double, 64> numbers_{};
  std::size_t next_ = 64;
};

}  // namespace sagips::core
