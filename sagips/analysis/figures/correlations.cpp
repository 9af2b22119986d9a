#include "sagips/analysis/figures/correlations.hpp"

#include <algorithm>

#include "sagips/core/error.hpp"

namespace sagips::analysis {

Figure matrix_squares(const std::string& title, const std::vector<std::string>& names,
                      const std::vector<double>& values) {
  const std::size_t count = names.size();
  if (count == 0 || values.size() != count * count)
    throw core::Error("figure: a matrix is not square. Give a row a name.");
  Series squares{.style = Series::Style::squares};
  for (std::size_t row = 0; row < count; ++row)
    for (std::size_t column = 0; column < count; ++column) {
      squares.add(static_cast<double>(column), static_cast<double>(count - 1 - row));
      squares.values.push_back(values[row * count + column]);
    }
  const double end = static_cast<double>(count) - 0.5;
  Panel panel{.title = title,
              .x = {.lowest = -0.5, .highest = end, .names = names},
              .y = {.lowest = -0.5, .highest = end, .names = names},
              .series = {std::move(squares)}};
  std::reverse(panel.y.names.begin(), panel.y.names.end());
  const int size = 190 + 70 * static_cast<int>(count);
  return {.panels = {std::move(panel)}, .width = size, .height = size};
}

Figure correlation_squares(const record::CorrelationResult& matrix) {
  return matrix_squares("correlations of the " + matrix.of, matrix.names, matrix.values);
}

}  // namespace sagips::analysis
