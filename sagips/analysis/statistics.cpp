#include "sagips/analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

void require(std::span<const double> values, std::size_t least, const char* purpose) {
  if (values.size() < least)
    throw core::Error(core::text(purpose, ": ", values.size(),
                                 " values are too few. Pass at least ", least, "."));
}

void require_sorted(std::span<const double> values, const char* purpose) {
  require(values, 1, purpose);
  // Every comparison with NaN is false, so one of them shows up here as well.
  for (std::size_t i = 0; i + 1 < values.size(); ++i)
    if (!(values[i] <= values[i + 1]))
      throw core::Error(core::text(purpose,
                                   ": values are not sorted upwards (or not numbers). "
                                   "Sort them first."));
}

}  // namespace

double kolmogorov_smirnov(std::span<const double> sorted, std::span<const double> other_sorted) {
  require_sorted(sorted, "Kolmogorov-Smirnov distance");
  require_sorted(other_sorted, "Kolmogorov-Smirnov distance");
  const auto n = static_cast<double>(sorted.size()), m = static_cast<double>(other_sorted.size());
  std::size_t i = 0, j = 0;
  double largest = 0;
  while (i < sorted.size() && j < other_sorted.size()) {
    // Step past all copies of the next value in both samples before the functions are compared.
    const double next = std::min(sorted[i], other_sorted[j]);
    while (i < sorted.size() && sorted[i] == next) ++i;
    while (j < other_sorted.size() && other_sorted[j] == next) ++j;
    largest = std::max(largest, std::abs(static_cast<double>(i) / n - static_cast<double>(j) / m));
  }
  return largest;
}

double kolmogorov_smirnov(std::span<const double> sorted,
                          const std::function<double(double)>& distribution) {
  require_sorted(sorted, "Kolmogorov-Smirnov distance");
  const auto n = static_cast<double>(sorted.size());
  double largest = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    // The empirical function jumps here: compare just before and just after.
    const double expected = distribution(sorted[i]);
    const double before = static_cast<double>(i) / n, after = static_cast<double>(i + 1) / n;
    largest = std::max({largest, expected - before, after - expected});
  }
  return largest;
}

double kolmogorov_p_value(double distance, double effective_count) {
  const double root = std::sqrt(effective_count);
  const double scaled = (root + 0.12 + 0.11 / root) * distance;
  if (scaled <= 0) return 1;
  double sum = 0;
  if (scaled < 1) {
    // The series below converges slowly here; its theta-function twin needs few terms.
    for (int odd = 1; odd <= 9; odd += 2)
      sum += std::exp(-std::pow(odd * std::numbers::pi / scaled, 2) / 8);
    return std::clamp(1 - std::sqrt(2 * std::numbers::pi) / scaled * sum, 0.0, 1.0);
  }
  for (int j = 1; j <= 10; ++j)
    sum += (j % 2 == 1 ? 2 : -2) * std::exp(-2 * std::pow(j * scaled, 2));
  return std::clamp(sum, 0.0, 1.0);
}

double effective_count(std::size_t n, std::size_t m) {
  const auto first = static_cast<double>(n), second = static_cast<double>(m);
  return first * second / (first + second);
}

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

double quantile(std::span<const double> sorted, double fraction) {
  require_sorted(sorted, "quantile");
  if (!(fraction >= 0 && fraction <= 1))
    throw core::Error(core::text("quantile: ", fraction, " is no fraction. Use 0 .. 1."));
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

PullSummary summarise_pulls(std::span<const double> pulls) {
  const auto n = static_cast<double>(pulls.size());
  return {mean(pulls), standard_deviation(pulls), 1 / std::sqrt(n), 1 / std::sqrt(2 * n)};
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
