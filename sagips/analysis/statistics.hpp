#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace sagips::analysis {

/// Largest distance between the empirical distribution functions of two samples, 0 .. 1.
/// Both spans sorted upwards, not empty; equal values may occur.    cost: O(n + m)
/// throws: Error when a span is empty or not sorted (NaN included)
double kolmogorov_smirnov(std::span<const double> sorted, std::span<const double> other_sorted);

/// The same between one sample and a distribution function that grows from 0 to 1.
double kolmogorov_smirnov(std::span<const double> sorted,
                          const std::function<double(double)>& distribution);

/// Chance that samples of one distribution lie at least this far apart: Kolmogorov's asymptotic
/// series with Stephens' correction, usable from an effective count of 4 on.
///
/// effective count: n for one sample, n m / (n + m) for two.
/// source: M. A. Stephens, J. Royal Stat. Soc. B 32 (1970) 115
double kolmogorov_p_value(double distance, double effective_count);

/// How many independent events two samples of n and m amount to in a Kolmogorov-Smirnov test.
double effective_count(std::size_t n, std::size_t m);

double mean(std::span<const double> values);
/// With 1/(n - 1): unbiased in its square. At least two values.
double standard_deviation(std::span<const double> values);

/// Value below which a `fraction` (0 .. 1) of the sample lies, linear between neighbours.
/// source: Hyndman and Fan, The American Statistician 50 (1996) 361, definition 7
double quantile(std::span<const double> sorted, double fraction);

/// Whether (estimate - truth) / error scatters as N(0, 1) over toys.
struct PullSummary {
  double mean = 0, width = 0;              ///< expected 0 and 1; width with 1/(n - 1)
  double mean_error = 0, width_error = 0;  ///< of true unit pulls: 1/sqrt(n) and 1/sqrt(2n)
};
PullSummary summarise_pulls(std::span<const double> pulls);

/// Pearson's correlation of every pair of columns.
/// samples: row-major [rows, columns]; returns row-major [columns, columns]. A column that does not
/// vary has no correlation: NaN, 1 on the diagonal.
std::vector<double> correlation_matrix(std::span<const double> samples, std::size_t columns);

}  // namespace sagips::analysis
