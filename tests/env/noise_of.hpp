#pragma once
#include <cmath>
#include <memory>

#include "sagips/env/noise/noise.hpp"

namespace sagips::testing {

inline env::Noise noise_of(std::uint64_t seed, std::int64_t samples, std::int64_t events,
                           std::int64_t first_sample = 0,
                           torch::ScalarType type = torch::kFloat32) {
  return {std::make_shared<env::PhiloxNoise>(core::RandomStream(seed, "test")), samples, events,
          first_sample, type};
}

/// How many deviations a chi-square sum is from what it should be (Wilson and Hilferty): beyond 5
/// with a probability of 5.7e-7.
inline double chi_square_pull(double sum, double degrees_of_freedom) {
  const double variance = 2 / (9 * degrees_of_freedom);
  return (std::cbrt(sum / degrees_of_freedom) - 1 + variance) / std::sqrt(variance);
}

inline torch::Tensor doubles(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}

inline double largest(const torch::Tensor& tensor) {
  return tensor.abs().max().to(torch::kFloat64).item<double>();
}

}  // namespace sagips::testing
