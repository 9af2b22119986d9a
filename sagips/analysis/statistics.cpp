#include "sagips/analysis/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

void require(std::span<const double> values, std::size_t least, const char* purpose) {
  if (values.size() < least)
    throw core::Error(core::text(purpose, ": ", values.size(),
                                 " values are too few. Pass at least ", least, "."));
}

}  // namespace

double mean(std::span<const double> values) {
  require(values, 1, "mean");
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  require(values, 2, "standard deviation");
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double root_mean_square(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, values.size())));
}

double quantile(std::span<const double> sorted, double fraction) {
  require(sorted, 1, "quantile");
  // Every comparison with NaN is false, so one of them shows up here as well.
  const auto falls = [](double one, double next) { return !(one <= next); };
  if (std::adjacent_find(sorted.begin(), sorted.end(), falls) != sorted.end())
    throw core::Error("quantile: values are not sorted upwards (or not numbers). Sort them first.");
  if (!(fraction >= 0 && fraction <= 1))
    throw core::Error(core::text("quantile: ", fraction, " is no fraction. Use 0 .. 1."));
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

std::vector<double> correlation_matrix(std::span<const double> samples, std::size_t columns) {
  if (columns == 0 || samples.size() < 2 * columns || samples.size() % columns != 0)
    throw core::Error(core::text("correlations: ", samples.size(), " numbers are no full rows of ",
                                 columns, " columns. Pass all rows, at least two."));
  const std::size_t rows = samples.size() / columns;
  std::vector<double> centre(columns, 0);
  for (std::size_t i = 0; i < samples.size(); ++i)
    centre[i % columns] += samples[i] / static_cast<double>(rows);
  std::vector<double> products(columns * columns, 0);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t a = 0; a < columns; ++a)
      for (std::size_t b = 0; b < columns; ++b)
        products[a * columns + b] +=
            (samples[row * columns + a] - centre[a]) * (samples[row * columns + b] - centre[b]);
  std::vector<double> correlations(columns * columns, 1);
  for (std::size_t a = 0; a < columns; ++a)
    for (std::size_t b = 0; b < columns; ++b)
      if (a != b)
        correlations[a * columns + b] =
            products[a * columns + b] /
            std::sqrt(products[a * columns + a] * products[b * columns + b]);
  return correlations;
}

}  // namespace sagips::analysis
