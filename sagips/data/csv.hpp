#pragma once
#include <string>
#include <vector>

#include "sagips/data/table.hpp"

namespace sagips::data {

/// Reads the needed columns of a text file: a header line, then one event a row, cells between
/// commas. Other columns may hold anything.
///
/// sagips/core/csv.hpp says what such a file may hold.
/// throws: DataError with the line for a cell that is no finite number, a row that is too short or
///         too long, a quote that is not closed; DataError for a column that is not there or twice
Table read_csv(const std::string& path, const std::vector<NeededColumn>& needed);

}  // namespace sagips::data
