#pragma once
#include <cstdint>
#include <string>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::env {

/// How the points of an axis lie.
enum class Spacing {
  linear,     ///< equal steps
  quadratic,  ///< equal steps of the square root of (x - low) / (high - low): finer at the low end
  logarithmic,  ///< equal ratios; needs low above 0
};

/// Points along one observable of a density's table, both ends included.
struct Axis {
  double low = 0, high = 1;
  std::int64_t points = 129;
  Spacing spacing = Spacing::linear;

  void fields(core::FieldList& list);
  /// throws: ConfigError naming the axis when it is empty or a logarithm does not exist
  void check(const std::string& where) const;
  /// shape: [points], float64
  torch::Tensor positions() const;
};

}  // namespace sagips::env
