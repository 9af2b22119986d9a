#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace sagips::core {

/// Calls `use` with the cells of each row of a file and the line where it begins.
///
/// Cells stand between commas; blanks around them are left out. A cell in quotes may hold commas,
/// line ends and doubled quotes; lines end as in Unix or Windows; blank lines at the end are skipped.
/// source: RFC 4180
/// throws: DataError with the line of a quote that is not closed
void for_each_csv_row(
    const std::string& path,
    const std::function<void(const std::vector<std::string>& cells, std::size_t line)>& use);

/// All rows but blank ones.
std::vector<std::vector<std::string>> read_csv_rows(const std::string& path);

/// A cell as such a file needs it: one with a comma, a quote, a line end or blanks around it stands
/// in quotes, its own quotes doubled.
std::string csv_cell(const std::string& content);

}  // namespace sagips::core
