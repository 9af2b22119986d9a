#pragma once
#include <string>

namespace sagips::record {

/// A cell of a CSV file: one with a comma, a quote or a line break stands in quotes, its own quotes
/// doubled. source: RFC 4180
std::string csv_cell(const std::string& content);

}  // namespace sagips::record
