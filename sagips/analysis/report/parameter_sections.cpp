#include <cmath>

#include "sagips/analysis/figures/correlations.hpp"
#include "sagips/analysis/report/html.hpp"
#include "sagips/analysis/report/sections.hpp"
#include "sagips/analysis/statistics.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/core/csv.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis::report {
namespace {

using record::ParameterResult;

std::string two_digits(const std::optional<double>& number) {
  return number && *number != 0 ? core::significant(*number, 2) : "";
}

std::vector<std::string> parameter_row(const ParameterResult& row) {
  const std::string truth = row.truth ? core::significant(*row.truth, 5) : "";
  if (row.fixed)
    return {row.name, row.unit, truth, core::significant(row.recovered, 6) + " (fixed)"};
  return {row.name,
          row.unit,
          truth,
          recovered_text(row),
          limit_text(row),
          pull_text(row),
          percent(row.residual_start),
          percent(row.residual_end),
          percent(row.floor),
          two_digits(row.spread),
          two_digits(row.bootstrap_error),
          two_digits(row.seed_error),
          fit_text(row)};
}

/// A square table whose cells are the darker the stronger two parameters hang together.
std::string correlation_table(const record::CorrelationResult& matrix) {
  const std::size_t count = matrix.names.size();
  std::string head = "<td></td>", body;
  for (const std::string& name : matrix.names) head += element("th", "scope=\"col\"", escape(name));
  for (std::size_t i = 0; i < count; ++i) {
    std::string row = element("th", "scope=\"row\"", escape(matrix.names[i]));
    for (std::size_t j = 0; j < count; ++j) {
      const double value = matrix.values[i * count + j];
      const bool known = std::isfinite(value);
      const std::string style =
          i == j || !known
              ? "class=\"same\""
              : core::text("class=\"", value < 0 ? "minus" : "plus",
                           "\" style=\"--c:", core::fixed(std::min(1.0, std::abs(value)), 2), "\"");
      row += element("td", style,
                     known ? (value < 0 ? "−" : "") + core::fixed(std::abs(value), 2) : "–");
    }
    body += element("tr", "", row);
  }
  return wide_table("class=\"correlations\"", "Correlations of the " + matrix.of,
                    element("tr", "", head), body);
}

std::string matrix_csv(const record::CorrelationResult& matrix) {
  std::vector<std::string> head = {"parameter"};
  head.insert(head.end(), matrix.names.begin(), matrix.names.end());
  std::string csv = core::csv_line(head);
  const std::size_t size = matrix.names.size();
  for (std::size_t i = 0; i < size; ++i) {
    const auto row = matrix.values.begin() + static_cast<std::ptrdiff_t>(i * size);
    csv += core::csv_cell(matrix.names[i]) + "," +
           core::csv_line(std::vector<double>(row, row + static_cast<std::ptrdiff_t>(size)));
  }
  return csv;
}

/// What does not vary is left out.
record::CorrelationResult of_proposals(const FreeProposals& free) {
  record::CorrelationResult result{"proposals over noise vectors (no errors)", {}, {}};
  for (const ParameterResult* parameter : free.parameters) result.names.push_back(parameter->name);
  result.values = record::SquareMatrix(correlation_matrix(free.samples, free.parameters.size()));
  return result;
}

Table parameter_table(const record::Results& results) {
  Table table{
      .caption = "What was found, in physical units",
      .header = {"parameter", "unit", "true", "recovered", "95 %", "pull", "residual at start",
                 "residual", "floor", "spread", "bootstraps", "seeds", "likelihood fit"},
      .explanations = {
          "", "", "the value toy data were made with",
          "with ± where an error is known; not fixed: by these data",
          "one-sided limit, where an end of the range is near", "(recovered − true) / error",
          "(true − recovered) / true before the first epoch", "(true − recovered) / true",
          "Cramér-Rao: the smallest relative error any unbiased method reaches",
          "of the proposals over noise vectors; no error of the parameter",
          "standard deviation over data drawn again", "standard deviation over seeds",
          "maximum likelihood on the same data, with its error"}};
  for (const ParameterResult& row : results.parameters) table.rows.push_back(parameter_row(row));
  table.note = results.errors_from.empty()
                   ? "No errors are stated. The spread of proposals is none."
                   : "Errors: " + results.errors_from + ".";
  return table;
}

}  // namespace

Section parameter_section(const RunContents& run) {
  Section section{"parameters", "Parameters", ""};
  if (!run.results) {
    section.html = paragraph(run.state == RunContents::State::finished
                                 ? "This folder holds no single answer: " + run.end + "."
                                 : "There are no results: the run has not come to its end.",
                             "missing");
    return section;
  }
  section.html = html(parameter_table(*run.results));
  if (!run.results->others.empty()) {
    std::vector<std::vector<std::string>> rows = others_rows(*run.results);
    section.html += html(Table{.caption = "Other solutions that these data allow",
                               .header = std::move(rows.front()),
                               .rows = {rows.begin() + 1, rows.end()}});
  }
  for (const std::string& direction : run.results->open_directions)
    section.html += paragraph("These data do not fix " + direction + ".");
  for (const core::Warning& warning : run.results->warnings)
    section.html += paragraph(warning.text);
  return section;
}

Section correlation_section(const RunContents& run, Gallery& gallery, const std::string& prefix) {
  Section section{"correlations", "Correlations", ""};
  if (!run.results) return section;
  std::vector<record::CorrelationResult> all = run.results->correlations;
  if (const auto proposals = free_proposals(run)) all.push_back(of_proposals(*proposals));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].values.size() != all[i].names.size() * all[i].names.size()) continue;
    section.html += correlation_table(all[i]);
    const std::string name = core::text(prefix, "correlations_", i + 1);
    gallery.keep(name, correlation_squares(all[i]));
    gallery.keep(name, matrix_csv(all[i]));
  }
  if (!section.html.empty()) section.html = element("div", "class=\"side-by-side\"", section.html);
  return section;
}

}  // namespace sagips::analysis::report
