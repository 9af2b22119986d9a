#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace sagips::analysis {

double mean(std::span<const double> values);
/// The standard deviation with 1/(n - 1), unbiased in its square, of at least two values.
double standard_deviation(std::span<const double> values);

/// 0 of no values.
double root_mean_square(std::span<const double> values);

/// Value below which a `fraction` (0 .. 1) of the sample lies, linear between neighbours.
/// source: Hyndman and Fan, The American Statistician 50 (1996) 361, definition 7
double quantile(std::span<const double> sorted, double fraction);

/// Pearson's correlation of every pair of columns.
/// samples: row-major [rows, columns]; returns row-major [columns, columns]. A column that does not
/// vary has no correlation: NaN, 1 on the diagonal.
std::vector<double> correlation_matrix(std::span<const double> samples, std::size_t columns);

}  // namespace sagips::analysis
