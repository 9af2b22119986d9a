#include "sagips/kernels/rows.hpp"

#include <algorithm>

namespace sagips::kernels {

void scale_rows(float* values, const float* factors, std::size_t rows, std::size_t width) {
  for (std::size_t row = 0; row < rows; ++row, values += width)
    for (std::size_t j = 0; j < width; ++j) values[j] *= factors[row];
}

void add_to_rows(float* values, const float* numbers, std::size_t rows, std::size_t width) {
  for (std::size_t row = 0; row < rows; ++row, values += width)
    for (std::size_t j = 0; j < width; ++j) values[j] += numbers[j];
}

void add_rows(const float* values, std::size_t rows, float* sums, std::size_t width) {
  for (std::size_t j = 0; j < width; ++j) {
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row)
      sum += static_cast<double>(values[row * width + j]);
    sums[j] += static_cast<float>(sum);
  }
}

// By squares of which both sides are in the cache.
void transpose(const float* from, float* to, std::size_t rows, std::size_t columns) {
  constexpr std::size_t square = 8;
  for (std::size_t row = 0; row < rows; row += square)
    for (std::size_t column = 0; column < columns; column += square)
      if (row + square <= rows && column + square <= columns) {
        for (std::size_t k = 0; k < square; ++k)
          for (std::size_t i = 0; i < square; ++i)
            to[(column + k) * rows + row + i] = from[(row + i) * columns + column + k];
      } else {
        for (std::size_t k = column; k < std::min(column + square, columns); ++k)
          for (std::size_t i = row; i < std::min(row + square, rows); ++i)
            to[k * rows + i] = from[i * columns + k];
      }
}

void add_transposed(const float* from, float* to, std::size_t rows, std::size_t columns) {
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t j = 0; j < columns; ++j) to[j * rows + row] += from[row * columns + j];
}

}  // namespace sagips::kernels
