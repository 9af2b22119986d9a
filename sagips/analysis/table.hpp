#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sagips/record/results.hpp"

namespace sagips::analysis {

/// Places that UTF-8 takes on a terminal.
std::size_t display_width(std::string_view text);

/// "3.7 %"; empty when there is none. A share that is not 0 is never shown as 0: "0.012 %".
std::string percent(const std::optional<double>& share);

/// Value and error with the same decimals, two significant ones in the error: "91.188 ± 0.012". A
/// value that rounding would take away keeps two digits of its own: "0.37 ± 13".
std::string with_error(double value, double error);
/// The value alone, as beside its error; five digits where none is known.
std::string value_with_digits_of(const std::optional<double>& error, double value);

/// "width [GeV]"; the name alone where there is no unit.
std::string name_text(const record::ParameterResult& row);
/// `with_error`, or both sides where these are known; without an error five digits.
std::string recovered_text(const record::ParameterResult& row);
/// "< 0.31": one-sided limits at 95 %, where an end of the range is near.
std::string limit_text(const record::ParameterResult& row);
/// (recovered - true) / error; empty where one is missing or the parameter is fixed.
std::string pull_text(const record::ParameterResult& row);
/// The maximum-likelihood fit with its error, as above; empty when there is none.
std::string fit_text(const record::ParameterResult& row);

/// Plain-text table with aligned columns; the first column is left-aligned, the others
/// right-aligned. Cells are UTF-8; rows may be shorter than the header.
std::string plain_table(const std::vector<std::string>& header,
                        const std::vector<std::vector<std::string>>& rows);

/// How good a network without parameters is: one row a metric, at the start and at the end.
std::vector<std::string> metric_header();
std::vector<std::vector<std::string>> metric_rows(const record::Results& results);

/// The table that ends a run: metrics of a network without parameters; else parameter, true, recovered,
/// spread, residual at start and end, floor (and fit +- error where one exists).
/// A mark column says "moved away" (|residual| grew) and "above floor" (|residual| > floor); a
/// legend below explains marks and columns.
/// Columns nobody can fill (no truth, no fit) are left out.
std::string result_table(const record::Results& results);
/// Other solutions beside the best one, a column each; empty where there are none.
std::string others_table(const record::Results& results);
/// Its cells. The first row is the header.
std::vector<std::vector<std::string>> others_rows(const record::Results& results);

}  // namespace sagips::analysis
