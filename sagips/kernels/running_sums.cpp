#include "sagips/kernels/running_sums.hpp"

#include <cstddef>

#include "sagips/core/vector_widths.hpp"

namespace sagips::kernels {

Chains sum_in_place(double* values, std::int64_t points) {
  const std::int64_t length = points / (chains * burst) * burst;
  double sum[chains] = {};
  for (std::int64_t i = 0; i < length; i += burst)
    for (std::int64_t c = 0; c < chains; ++c)
      for (std::int64_t j = 0; j < burst; ++j)
        values[c * length + i + j] = sum[c] += values[c * length + i + j];
  for (std::int64_t k = chains * length; k < points; ++k) values[k] = sum[chains - 1] += values[k];
  Chains result{length, {}, 0};
  for (std::size_t c = 0; c < chains; ++c) {
    result.start[c] = result.total;
    result.total += sum[c];
  }
  return result;
}

SAGIPS_VECTOR_WIDTHS void masses_from_right(const float* __restrict densities,
                                            double* __restrict masses, std::int64_t points) {
  for (std::int64_t k = 0; k < points; ++k)
    masses[k] = static_cast<double>(densities[points - 1 - k]);
}

SAGIPS_VECTOR_WIDTHS void double_masses_from_right(const float* __restrict densities,
                                                   double* __restrict masses, std::int64_t cells) {
  for (std::int64_t k = 0; k < cells; ++k)
    masses[k] = static_cast<double>(densities[cells - 1 - k] + densities[cells - k]);
}

SAGIPS_VECTOR_WIDTHS void divide(const double* __restrict sums, double start, float total,
                                 float* __restrict survival, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) survival[i] = static_cast<float>(sums[i] + start) / total;
}

SAGIPS_VECTOR_WIDTHS void multiply(const double* __restrict sums, double start, double factor,
                                   float* __restrict values, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i)
    values[i] = static_cast<float>((sums[i] + start) * factor);
}

}  // namespace sagips::kernels
