#include <algorithm>

#include "sagips/analysis/lookup.hpp"
#include "sagips/analysis/report/html.hpp"
#include "sagips/analysis/report/sections.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis::report {
namespace {

constexpr std::size_t most_rows = 40;

std::string with_blanks(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// Numbers with the digits that a reader can use.
std::string short_number(const std::string& cell) {
  double value = 0;
  const bool is_long = cell.size() > 6 && cell.find('.') != std::string::npos;
  return is_long && core::parse_number(cell, value) ? core::significant(value, 4) : cell;
}

std::string table_of(const NamedTable& csv) {
  if (csv.rows.size() < 2) return {};
  Table table{.caption = with_blanks(csv.name), .header = {}};
  for (const std::string& name : csv.rows.front()) table.header.push_back(with_blanks(name));
  const std::size_t count = std::min(csv.rows.size() - 1, most_rows);
  for (std::size_t i = 1; i <= count; ++i) {
    std::vector<std::string> row;
    for (const std::string& cell : csv.rows[i]) row.push_back(short_number(cell));
    table.rows.push_back(std::move(row));
  }
  if (count < csv.rows.size() - 1)
    table.note = core::text("The first ", count, " of ", csv.rows.size() - 1, " rows; ", csv.name,
                            ".csv has all.");
  const bool is_long = csv.rows.size() > 10;
  return is_long ? details(table.caption, html(table)) : html(table);
}

// A search over settings: each trial with the folder of its run, of its first one where it has several.
std::string trials_of(const NamedTable& csv, const RunContents& run) {
  std::string ending = "/";
  for (const char* several : {"fold", "seed"})
    if (const auto* count = find_named(run.settings, core::text("tune.", several, "s"));
        count != nullptr && count->value != "1")
      ending = core::text("_", several, "_1/");
  std::string head, body;
  for (const std::string& name : csv.rows.front())
    head += element("th", "scope=\"col\"", escape(with_blanks(name)));
  for (std::size_t i = 1; i < csv.rows.size(); ++i) {
    const std::string& number = csv.rows[i].front();
    const std::string zeros(5 - std::min<std::size_t>(5, number.size()), '0');
    const std::string folder = core::text("trials/", run.workload, "/", zeros, number, ending);
    std::string cells =
        element("th", "scope=\"row\"",
                element("a", core::text("href=\"", escape(folder), "\""), escape(number)));
    for (std::size_t k = 1; k < csv.rows[i].size(); ++k)
      cells += element("td", "", escape(short_number(csv.rows[i][k])));
    body += element("tr", "", cells);
  }
  return details(core::text(csv.rows.size() - 1, " trials, each with the folder of its run"),
                 wide_table("", "", element("tr", "", head), body));
}

std::string state_of(const record::StudyMember& member) {
  using State = record::StudyMember::State;
  return member.state == State::done     ? "done"
         : member.state == State::failed ? "failed"
                                         : "pending";
}

/// Names of the free parameters, or of metrics, as the first member with results has them.
std::vector<std::string> parameters_of(const RunContents& run) {
  for (const MemberContents& one : run.members) {
    if (!one.results) continue;
    std::vector<std::string> names;
    for (const record::ParameterResult& row : one.results->parameters)
      if (!row.fixed) names.push_back(row.name);
    if (!one.results->parameters.empty()) return names;
    for (const record::MetricResult& metric : record::metrics_of(*one.results))
      if (metric.name.find('/') == std::string::npos) names.push_back(metric.name);
    return names;
  }
  return {};
}

std::string residual_or_value(const MemberContents& one, const std::string& name) {
  if (!one.results) return {};
  const record::ParameterResult* row = find_named(one.results->parameters, name);
  const record::NamedNumber* end = find_named(one.results->numbers, name + "_end");
  if (row == nullptr) return end == nullptr ? "" : core::significant(end->value, 4);
  return row->residual_end ? percent(row->residual_end) : core::significant(row->recovered, 5);
}

std::vector<std::string> member_row(const MemberContents& one,
                                    const std::vector<std::string>& parameters) {
  std::vector<std::string> row{one.member.name, one.member.variant, one.member.varied,
                               state_of(one.member)};
  const auto& results = one.results;
  row.push_back(results ? core::text(results->epochs) : "");
  row.push_back(results ? core::significant(results->time_s, 3) + " s" : "");
  for (const std::string& name : parameters) row.push_back(residual_or_value(one, name));
  row.push_back(one.member.reason);
  return row;
}

}  // namespace

Section study_section(const RunContents& run) {
  Section section{"study", "Tables of the study", ""};
  if (!run.told.empty()) section.html += element("pre", "tabindex=\"0\"", escape(run.told));
  for (const NamedTable& table : run.tables)
    section.html += table.name == "trials" ? trials_of(table, run) : table_of(table);
  return section;
}

Section member_section(const RunContents& run) {
  Section section{"members", "Members", ""};
  if (run.members.empty()) return section;
  const std::vector<std::string> parameters = parameters_of(run);
  Table table{
      .caption =
          "Every training of the study; a parameter's column is its residual (true − "
          "recovered) / true, or its value where no truth is known; a metric's what it was at "
          "the end",
      .header = {"member", "variant", "varied", "state", "epochs", "time"}};
  table.header.insert(table.header.end(), parameters.begin(), parameters.end());
  table.header.push_back("reason");
  std::string failed;
  for (const MemberContents& one : run.members) {
    table.rows.push_back(member_row(one, parameters));
    if (one.member.state == record::StudyMember::State::failed)
      failed += paragraph(one.member.name + " failed: " + one.member.reason);
  }
  section.html = failed + details(core::text(run.members.size(), " members"), html(table));
  return section;
}

}  // namespace sagips::analysis::report
