#pragma once
#include <cmath>

/// CUDA's quantile of the standard normal distribution, for kernels that run on the CPU: bisection of the
/// complementary error function, exact to double precision in the lower half, which serves both.
inline double normcdfinv(double probability) {
  const bool upper = probability > 0.5;
  const double tail = upper ? 1 - probability : probability;
  double low = -40, high = 0;
  while (true) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) return upper ? -high : high;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < tail ? low : high) = middle;
  }
}
