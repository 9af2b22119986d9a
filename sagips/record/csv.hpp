#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sagips::record {

/// A cell of a CSV file: one with a comma, a quote or a line break stands in quotes, its own quotes
/// doubled. source: RFC 4180
std::string csv_cell(const std::string& content);

/// The rows of such a file; a quoted cell may hold commas, quotes and line breaks.
std::vector<std::vector<std::string>> csv_rows(std::string_view content);

}  // namespace sagips::record
