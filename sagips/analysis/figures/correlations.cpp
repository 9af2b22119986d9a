#include "sagips/analysis/figures/correlations.hpp"

#include <algorithm>

#include "sagips/core/error.hpp"

namespace sagips::analysis {

Figure correlation_squares(const record::CorrelationResult& matrix) {
  const std::size_t count = matrix.names.size();
  if (count == 0 || matrix.values.size() != count * count)
    throw core::Error("figure: a correlation matrix is not square. Give a row a name.");
  Series squares{.style = Series::Style::squares};
  for (std::size_t row = 0; row < count; ++row)
    for (std::size_t column = 0; column < count; ++column) {
      squares.add(static_cast<double>(column), static_cast<double>(count - 1 - row));
      squares.values.push_back(matrix.values[row * count + column]);
    }
  const double end = static_cast<double>(count) - 0.5;
  Panel panel{.title = "correlations of the " + matrix.of,
              .x = {.lowest = -0.5, .highest = end, .names = matrix.names},
              .y = {.lowest = -0.5, .highest = end, .names = matrix.names},
              .series = {std::move(squares)}};
  std::reverse(panel.y.names.begin(), panel.y.names.end());
  const int size = 190 + 70 * static_cast<int>(count);
  return {.panels = {std::move(panel)}, .width = size, .height = size};
}

}  // namespace sagips::analysis
