#include "sagips/data/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::data {

using core::DataError;
using core::text;

std::string Scatter::problem(const std::string& column) const {
  constexpr double visible = 0.1;  // a step in standard deviations: of a narrow peak much more
  const auto count = static_cast<double>(count_);
  const double mean = origin_ + sum_ / count;
  const double scatter = std::sqrt(std::max(0.0, squares_ / count - std::pow(sum_ / count, 2)));
  const auto rounded = static_cast<float>(std::abs(mean));
  const double step =
      std::nextafter(rounded, std::numeric_limits<float>::max()) - static_cast<double>(rounded);
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * std::abs(mean);
  // a constant, fine enough, or NaN, which is refused elsewhere
  if (count_ == 0 || !std::isfinite(mean) || scatter <= rounding || step < visible * scatter)
    return {};
  return text("column '", column, "' holds numbers near ", core::significant(mean, 3),
              " that scatter by ", core::significant(scatter, 2),
              ", and single precision has steps of ", core::significant(step, 2),
              " there. Subtract the same number from them");
}

void refuse_missing_column(const std::string& file, const NeededColumn& needed,
                           const std::vector<std::string>& names) {
  throw DataError(file, text("has no column '", needed.name, "' (asked for by ", needed.asked_by,
                             ")", core::suggestion(needed.name, names)));
}

std::size_t find_column(const Table& table, const NeededColumn& needed) {
  auto found = std::find(table.names.begin(), table.names.end(), needed.name);
  const auto label = table.labels.find(needed.name);
  if (found == table.names.end() && label != table.labels.end())
    found = std::find(table.names.begin(), table.names.end(), label->second);
  if (found == table.names.end()) refuse_missing_column(table.file, needed, table.names);
  return static_cast<std::size_t>(found - table.names.begin());
}

void check_finite(const Table& table, const NeededColumn& needed) {
  const std::vector<double>& column = table.columns[find_column(table, needed)];
  const auto wrong = std::find_if(column.begin(), column.end(),
                                  [](double number) { return !std::isfinite(number); });
  if (wrong == column.end()) return;
  throw DataError(
      table.file, table.rows[static_cast<std::size_t>(wrong - column.begin())],
      text("column '", needed.name, "' holds ", core::round_trip(*wrong),
           ", which is no finite number. Correct it: leaving such rows out biases results."));
}

Table table_of(const core::NpyArray& array, const std::string& file) {
  const std::size_t rank = array.shape.size();
  if (rank != 1 && rank != 2)
    throw DataError(file, text("holds an array of ", rank,
                               " dimensions. Save it as [events] or [events, observables]."));
  const std::size_t events = array.shape[0];
  const std::size_t width = rank == 2 ? array.shape[1] : 1;
  Table table;
  table.file = file;
  table.numbered = true;
  table.rows.resize(events);
  std::iota(table.rows.begin(), table.rows.end(), array.first_row + 1);
  for (std::size_t column = 0; column < width; ++column) {
    table.names.push_back(std::to_string(column));
    std::vector<double>& numbers = table.columns.emplace_back(events);
    for (std::size_t event = 0; event < events; ++event)
      numbers[event] = array.values[event * width + column];
  }
  return table;
}

}  // namespace sagips::data
