#include "sagips/analysis/table.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

using record::ParameterResult;
using Rows = std::vector<std::vector<std::string>>;

std::string aligned_line(const std::vector<std::string>& cells,
                         const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t column = 0; column < cells.size(); ++column) {
    const std::string padding(widths[column] - display_width(cells[column]), ' ');
    line += column == 0 ? cells[column] + padding : "  " + padding + cells[column];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string value_text(double value) { return core::significant(value, 5); }

int power_of_ten(double number) { return static_cast<int>(std::floor(std::log10(number))); }

// With as many decimals as two digits of `size` have; more than nine are shown as powers of ten.
std::string with_decimals_of(double size, double value) {
  const int decimals = std::max(1 - power_of_ten(size), 0);
  if (decimals <= 9) return core::rounded(value, decimals);
  const bool has_power = value != 0 && std::isfinite(value);
  const int further = !has_power ? 0 : power_of_ten(std::abs(value)) - power_of_ten(size);
  return core::significant(value, 2 + std::max(further, 0));
}

// "2.13 +0.42 -0.31": the decimals are those of the smaller side, unless an end of the range has cut that
// off: "2.190 +0.0000021 -0.018".
std::string with_sides(double value, double below, double above) {
  constexpr double cut_off = 0.01;  // of the other side
  const double most = std::max(below, above),
               least = below > 0 && above > 0 ? std::min(below, above) : most;
  if (least < cut_off * most)
    return core::text(with_decimals_of(most, value), " +", with_decimals_of(above, above), " -",
                      with_decimals_of(below, below));
  return core::text(with_decimals_of(least, value), " +", with_decimals_of(least, above), " -",
                    with_decimals_of(least, below));
}

/// Only of parameters that take part: a fixed one has neither residual nor floor.
std::string percent_cell(const ParameterResult& row, const std::optional<double>& share) {
  return row.fixed ? "" : percent(share);
}

bool has_moved_away(const ParameterResult& row) {
  return !row.fixed && row.residual_start && row.residual_end &&
         std::abs(*row.residual_end) > std::abs(*row.residual_start);
}

bool is_above_floor(const ParameterResult& row) {
  return !row.fixed && !row.error && row.residual_end && row.floor &&
         std::abs(*row.residual_end) > *row.floor;
}

std::string mark(const ParameterResult& row) {
  if (row.fixed) return "fixed";
  std::vector<std::string> all;
  if (!std::isfinite(row.recovered)) all.push_back("not finite");
  if (has_moved_away(row)) all.push_back("moved away");
  if (is_above_floor(row)) all.push_back("above floor");
  return core::join(all, ", ");
}

std::string truth_cell(const ParameterResult& row) {
  return row.truth ? value_text(*row.truth) : "";
}
std::string error_text(const ParameterResult& row, const std::optional<double>& error) {
  return error && !row.fixed ? core::significant(*error, 2) : std::string{};
}
std::string bootstrap_cell(const ParameterResult& row) {
  return error_text(row, row.bootstrap_error);
}
std::string seed_cell(const ParameterResult& row) { return error_text(row, row.seed_error); }
// what has an error of its own was no network with noise vectors
std::string spread_cell(const ParameterResult& row) {
  return row.fixed || row.spread == 0 ? "" : core::significant(row.spread, 2);
}
std::string start_cell(const ParameterResult& row) { return percent_cell(row, row.residual_start); }
std::string end_cell(const ParameterResult& row) { return percent_cell(row, row.residual_end); }
std::string floor_cell(const ParameterResult& row) { return percent_cell(row, row.floor); }

struct Column {
  std::string title;
  std::string (*cell)(const ParameterResult&);
  std::string explained_as{}, meaning{};  ///< in the legend; empty: not there
};

/// The columns that at least one row fills.
std::vector<Column> filled_columns(const std::vector<ParameterResult>& rows) {
  std::vector<Column> columns{
      {"parameter", name_text},
      {"true", truth_cell},
      {"recovered", recovered_text},
      {"95 %", limit_text, "95 %", "one-sided limit, where an end of the range is near"},
      {"pull", pull_text, "pull", "(recovered - true) / error"},
      {"bootstraps", bootstrap_cell, "bootstraps", "spread over data drawn again with replacement"},
      {"seeds", seed_cell, "seeds", "spread over seeds: the method's own chance"},
      {"spread", spread_cell, "spread", "over noise vectors; no error of the parameter"},
      {"start", start_cell},
      {"end", end_cell, "start, end", "residual (true - recovered) / true, before and after"},
      {"floor", floor_cell, "floor", "smallest error these data allow (Cramér-Rao) / |true|"},
      {"fit", fit_text, "fit", "maximum-likelihood fit of the same data"},
      {"", mark}};
  std::erase_if(columns, [&](const Column& column) {
    return std::all_of(rows.begin(), rows.end(),
                       [&](const ParameterResult& row) { return column.cell(row).empty(); });
  });
  return columns;
}

/// Explains the columns and marks that the table really has.
std::string legend(const std::vector<Column>& columns, const std::string& table) {
  std::string whole;
  const auto explain = [&](std::string word, const std::string& meaning) {
    word.resize(11, ' ');
    whole += word + "  " + meaning + "\n";
  };
  for (const Column& column : columns)
    if (!column.meaning.empty()) explain(column.explained_as, column.meaning);
  const auto explain_mark = [&](const std::string& word, const std::string& meaning) {
    if (table.find(word) != std::string::npos) explain(word, meaning);
  };
  explain_mark("moved away", "the residual grew in size");
  explain_mark("above floor", "the residual is larger than the floor");
  explain_mark("not finite", "training broke down");
  explain_mark("not fixed", "by these data: its value is one of many");
  return whole;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  // every byte of UTF-8 that does not continue a letter starts one
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string percent(const std::optional<double>& share) {
  return share ? core::rounded(100 * *share, 1) + " %" : "";
}

std::string with_error(double value, double error) {
  return core::text(value_with_digits_of(error, value), " ± ",
                    std::isfinite(error) && error > 0 ? with_decimals_of(error, error)
                                                      : core::significant(error, 2));
}

std::string value_with_digits_of(const std::optional<double>& error, double value) {
  return error && std::isfinite(*error) && *error > 0 ? with_decimals_of(*error, value)
                                                      : value_text(value);
}

std::string name_text(const ParameterResult& row) {
  return row.unit.empty() ? row.name : core::text(row.name, " [", row.unit, "]");
}

std::string recovered_text(const ParameterResult& row) {
  if (row.open) return "not fixed";
  if (!row.at_end.empty())
    return core::text(core::significant(row.recovered, 4), " (", row.at_end, " end)");
  if (row.error_below && row.error_above && std::max(*row.error_below, *row.error_above) > 0)
    return with_sides(row.recovered, *row.error_below, *row.error_above);
  return row.error ? with_error(row.recovered, *row.error) : value_text(row.recovered);
}

std::string limit_text(const ParameterResult& row) {
  std::vector<std::string> all;
  if (row.lower_limit) all.push_back("> " + core::significant(*row.lower_limit, 3));
  if (row.upper_limit) all.push_back("< " + core::significant(*row.upper_limit, 3));
  return core::join(all, ", ");
}

std::string pull_text(const ParameterResult& row) {
  const std::optional<double> found = record::pull(row);
  return found ? core::rounded(*found, 2) : "";
}

std::string fit_text(const ParameterResult& row) {
  return row.fit_value && row.fit_error ? with_error(*row.fit_value, *row.fit_error) : "";
}

std::string plain_table(const std::vector<std::string>& header, const Rows& rows) {
  std::vector<std::size_t> widths;
  const auto widen = [&](const std::vector<std::string>& cells) {
    widths.resize(std::max(widths.size(), cells.size()), 0);
    for (std::size_t column = 0; column < cells.size(); ++column)
      widths[column] = std::max(widths[column], display_width(cells[column]));
  };
  widen(header);
  for (const auto& row : rows) widen(row);
  std::string table = aligned_line(header, widths);
  for (const auto& row : rows) table += aligned_line(row, widths);
  return table;
}

Rows others_rows(const record::Results& results) {
  Rows rows = {{"other solutions"}};
  for (std::size_t k = 0; k < results.others.size(); ++k) rows[0].push_back(core::text(k + 2));
  for (std::size_t i = 0; i < results.parameters.size(); ++i) {
    rows.push_back({name_text(results.parameters[i])});
    for (const record::OtherSolution& other : results.others)
      rows.back().push_back(results.parameters[i].fixed
                                ? value_text(other.values[i])
                                : with_error(other.values[i], other.errors[i]));
  }
  rows.push_back({"score"});
  for (const record::OtherSolution& other : results.others)
    rows.back().push_back(core::significant(other.score, 4));
  return rows;
}

std::string others_table(const record::Results& results) {
  if (results.others.empty()) return {};
  const Rows rows = others_rows(results);
  return plain_table(rows[0], {rows.begin() + 1, rows.end()});
}

std::vector<std::string> metric_header() { return {"metric", "at the start", "at the end"}; }

std::vector<std::vector<std::string>> metric_rows(const record::Results& results) {
  Rows rows;
  for (const record::MetricResult& metric : record::metrics_of(results))
    rows.push_back({metric.name, metric.start ? core::significant(*metric.start, 4) : "",
                    core::significant(metric.end, 4)});
  return rows;
}

std::string result_table(const record::Results& results) {
  if (results.parameters.empty()) return plain_table(metric_header(), metric_rows(results));
  const std::vector<Column> columns = filled_columns(results.parameters);
  std::size_t longest_mark = 0;
  for (const ParameterResult& row : results.parameters)
    longest_mark = std::max(longest_mark, mark(row).size());
  std::vector<std::string> header;
  header.reserve(columns.size());
  for (const Column& column : columns) header.push_back(column.title);
  Rows rows;
  for (const ParameterResult& row : results.parameters) {
    std::vector<std::string> cells;
    cells.reserve(columns.size());
    for (const Column& column : columns) cells.push_back(column.cell(row));
    // Marks read better from the left: equal lengths leave nothing to align.
    if (columns.back().cell == mark) cells.back().resize(longest_mark, ' ');
    rows.push_back(std::move(cells));
  }
  const std::string table = plain_table(header, rows);
  const std::string explanation = legend(columns, table);
  return explanation.empty() ? table : table + "\n" + explanation;
}

}  // namespace sagips::analysis
