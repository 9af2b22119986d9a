#pragma once
#include <cstddef>

namespace sagips::kernels {

/// values_rj *= factors_r. shape: values [rows, width], factors [rows]
void scale_rows(float* values, const float* factors, std::size_t rows, std::size_t width);

/// values_rj += numbers_j. shape: values [rows, width], numbers [width]
void add_to_rows(float* values, const float* numbers, std::size_t rows, std::size_t width);

/// sums_j += sum_r values_rj, added up in double: measured and synthetic events pull the output's bias
/// to opposite sides. shape: values [rows, width], sums [width]
void add_rows(const float* values, std::size_t rows, float* sums, std::size_t width);

/// to = from^T. shape: from [rows, columns]
void transpose(const float* from, float* to, std::size_t rows, std::size_t columns);

/// to += from^T. shape: from [rows, columns]
void add_transposed(const float* from, float* to, std::size_t rows, std::size_t columns);

}  // namespace sagips::kernels
