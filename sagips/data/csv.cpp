#include "sagips/data/csv.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/csv.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::data {
namespace {

using core::DataError;
using core::text;

double number_in(const std::string& cell, const std::string& column, const std::string& file,
                 std::size_t line) {
  double number = 0.0;
  if (core::parse_number(core::trim(cell), number) && std::isfinite(number)) return number;
  const std::string found = cell.empty() ? "is empty" : text("holds '", core::excerpt(cell), "'");
  throw DataError(
      file, line,
      text("column '", column, "' ", found,
           ", a finite number is needed. Correct it: leaving such rows out biases results."));
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
  Table table;
  table.file = path;
  std::size_t width = 0;  // of the header
  std::vector<std::size_t> places;
  const auto read_header = [&](const std::vector<std::string>& names) {
    width = names.size();
    for (const NeededColumn& column : needed) {
      if (std::find(table.names.begin(), table.names.end(), column.name) != table.names.end())
        continue;
      places.push_back(place_in(names, column, path));
      table.names.push_back(column.name);
      table.columns.emplace_back();
    }
  };
  core::for_each_csv_row(path, [&](const std::vector<std::string>& cells, std::size_t line) {
    if (width == 0) return read_header(cells);
    if (cells.size() != width)
      throw DataError(path, line,
                      text("has ", cells.size(), cells.size() == 1 ? " cell" : " cells",
                           ", the header has ", width, ". Correct that row."));
    for (std::size_t i = 0; i < places.size(); ++i)
      table.columns[i].push_back(number_in(cells[places[i]], table.names[i], path, line));
    table.rows.push_back(line);
  });
  if (width == 0) throw DataError(path, "is empty. It must begin with a line of column names.");
  return table;
}

}  // namespace sagips::data
