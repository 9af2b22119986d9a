#include "sagips/data/csv.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::data {
namespace {

using core::DataError;
using core::text;

/// Cuts a text into records of cells.
class CsvScanner {
 public:
  CsvScanner(std::string_view content, const std::string& file) : rest_(content), file_(file) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  }

  /// False when only blank lines are left.
  bool next(std::vector<std::string>& cells) {
    if (rest_.find_first_not_of(" \t\r\n") == std::string_view::npos) return false;
    line_ = next_line_;
    std::size_t count = 0;
    do {
      if (count == cells.size()) cells.emplace_back();
      read_cell(cells[count++]);
    } while (take(','));
    cells.resize(count);
    if (take('\r') && !rest_.empty() && rest_.front() != '\n')
      refuse("has a carriage return in its middle");
    if (take('\n')) ++next_line_;
    return true;
  }
  /// Where the record begins that `next` gave last.
  std::size_t line() const { return line_; }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw DataError(file_, line_, text("the line ", problem, ". Correct it."));
  }
  bool take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void read_cell(std::string& cell) {
    cell.clear();
    if (take('"')) return read_quoted(cell);
    const std::size_t end = std::min(rest_.find_first_of(",\r\n"), rest_.size());
    cell = core::trim(rest_.substr(0, end));
    rest_.remove_prefix(end);
  }
  void read_quoted(std::string& cell) {
    for (;;) {
      const std::size_t end = rest_.find('"');
      if (end == std::string_view::npos) refuse("opens a quote that is never closed");
      cell += rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (!take('"')) break;
      cell += '"';
    }
    next_line_ += static_cast<std::size_t>(std::count(cell.begin(), cell.end(), '\n'));
    if (!rest_.empty() && std::string_view(",\r\n").find(rest_.front()) == std::string_view::npos)
      refuse("has text behind a closing quote");
  }

  std::string_view rest_;
  const std::string& file_;
  std::size_t line_ = 1;
  std::size_t next_line_ = 1;
};

double number_in(const std::string& cell, const std::string& column, const std::string& file,
                 std::size_t line) {
  double number = 0.0;
  if (core::parse_number(core::trim(cell), number) && std::isfinite(number)) return number;
  const std::string found = cell.empty() ? "is empty" : text("holds '", core::excerpt(cell), "'");
  throw DataError(file, line,
                  text("column '", column, "' ", found,
                       ", a finite number is needed. Correct or remove that row."));
}

std::size_t place_in(const std::vector<std::string>& header, const NeededColumn& needed,
                     const std::string& file) {
  const auto found = std::find(header.begin(), header.end(), needed.name);
  if (found == header.end()) refuse_missing_column(file, needed, header);
  if (std::find(found + 1, header.end(), needed.name) != header.end())
    throw DataError(file, text("has two columns '", needed.name, "'. Rename one of them."));
  return static_cast<std::size_t>(found - header.begin());
}

}  // namespace

Table read_csv(const std::string& path, const std::vector<NeededColumn>& needed) {
  const std::string content = core::read_file(path);
  CsvScanner scanner(content, path);
  std::vector<std::string> header, cells;
  if (!scanner.next(header))
    throw DataError(path, "is empty. It must begin with a line of column names.");
  Table table;
  table.file = path;
  std::vector<std::size_t> places;
  for (const NeededColumn& column : needed) {
    if (std::find(table.names.begin(), table.names.end(), column.name) != table.names.end())
      continue;
    places.push_back(place_in(header, column, path));
    table.names.push_back(column.name);
    table.columns.emplace_back();
  }
  while (scanner.next(cells)) {
    if (cells.size() != header.size())
      throw DataError(path, scanner.line(),
                      text("has ", cells.size(), cells.size() == 1 ? " cell" : " cells",
                           ", the header has ", header.size(), ". Correct or remove that row."));
    for (std::size_t i = 0; i < places.size(); ++i)
      table.columns[i].push_back(number_in(cells[places[i]], table.names[i], path, scanner.line()));
    table.rows.push_back(scanner.line());
  }
  return table;
}

}  // namespace sagips::data
