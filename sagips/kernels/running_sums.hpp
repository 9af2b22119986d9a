#pragma once
#include <array>
#include <cstdint>

namespace sagips::kernels {

// An addition takes four cycles: a table is summed as four chains side by side, which hides them.
// Each goes four entries at a time, because stores to one cache line are cheaper in a row.
inline constexpr std::int64_t chains = 4, burst = 4;

/// Running sums of a table, each chain's from its own beginning; `start` is what lies before it.
struct Chains {
  std::int64_t length;  ///< of all but the last, which takes what is left over
  std::array<double, chains> start;
  double total;
};

/// shape: values [points]
Chains sum_in_place(double* values, std::int64_t points);

/// Calls part(first, size, start) for each chain.
template <class Part>
void for_each(const Chains& sums, std::int64_t points, Part part) {
  for (std::int64_t c = 0; c < chains; ++c) {
    const std::int64_t first = c * sums.length;
    part(first, c + 1 < chains ? sums.length : points - first,
         sums.start[static_cast<std::size_t>(c)]);
  }
}

/// A table of densities as masses from the right. `left`: those of its points, [points]; `trapezoid`:
/// twice those of its cells, [cells]; the factor leaves with the normalisation.
void masses_from_right(const float* densities, double* masses, std::int64_t points);
void double_masses_from_right(const float* densities, double* masses, std::int64_t cells);

/// survival = (sums + start) / total
void divide(const double* sums, double start, float total, float* survival, std::int64_t size);
/// values = (sums + start) * factor
void multiply(const double* sums, double start, double factor, float* values, std::int64_t size);

}  // namespace sagips::kernels
