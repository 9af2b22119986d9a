#pragma once
#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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

/// The same of a text that was read already; `path` names it in messages.
void for_each_csv_row(
    const std::string& content, const std::string& path,
    const std::function<void(const std::vector<std::string>& cells, std::size_t line)>& use);

/// A text without the byte order mark that some programs write before it in UTF-8.
std::string_view without_byte_order_mark(std::string_view content);

/// All rows but blank ones.
std::vector<std::vector<std::string>> read_csv_rows(const std::string& path);

/// A cell as such a file needs it: one with a comma, a quote, a line end or blanks around it stands
/// in quotes, its own quotes doubled.
std::string csv_cell(const std::string& content);
/// The shortest text that reads back as the same double.
std::string csv_cell(double number);
template <std::integral Number>
requires(!std::same_as<Number, bool>) std::string csv_cell(Number number) {
  return std::to_string(number);
}
/// The truth of a statement is written as "yes" or "no".
std::string csv_cell(std::same_as<bool> auto is_true) { return is_true ? "yes" : "no"; }
/// What is not known is an empty cell.
template <class Value>
std::string csv_cell(const std::optional<Value>& value) {
  return value ? csv_cell(*value) : std::string();
}

/// A row of a file with its line end; one cell or more.
template <class... Cells>
std::string csv_line(const Cells&... cells) {
  std::string line;
  ((line += csv_cell(cells) + ","), ...);
  line.back() = '\n';
  return line;
}

/// The same of cells whose number is not known beforehand.
template <class Cell>
std::string csv_line(const std::vector<Cell>& cells) {
  std::string line;
  for (const Cell& cell : cells) line += csv_cell(cell) + ",";
  line.back() = '\n';
  return line;
}

}  // namespace sagips::core
