#include "sagips/analysis/report/html.hpp"
#include "sagips/analysis/report/sections.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis::report {
namespace {

constexpr std::size_t most_warnings = 20;

std::string environment_table(const RunContents& run) {
  if (run.environment.empty())
    return paragraph("environment.json is not in the run folder.", "missing");
  Table table{.caption = "Where and with what the run was made",
              .header = {"what", "value"},
              .rows = {},
              .style_class = "text"};
  for (const record::NamedText& fact : run.environment)
    table.rows.push_back({fact.name, fact.value});
  return html(table);
}

std::string listing(const std::vector<std::string>& lines) {
  return element("pre", "tabindex=\"0\"", escape(core::join(lines, "\n")));
}

std::string warnings(const RunContents& run) {
  std::vector<std::string> shown = run.warnings;
  if (shown.size() > most_warnings) shown.resize(most_warnings);
  std::string result;
  if (!shown.empty()) result += element("h3", "", "Warnings") + listing(shown);
  if (shown.size() < run.warnings.size())
    result += paragraph(core::text(run.warnings.size() - shown.size(), " more in log.txt"), "note");
  for (const std::string& problem : run.unreadable) result += paragraph(problem, "missing");
  return result;
}

}  // namespace

Section setup_section(const RunContents& run) {
  Section section{"setup", "How it was made", ""};
  section.html = warnings(run) + environment_table(run);
  section.html += run.config.empty()
                      ? paragraph("config.yaml is not in the run folder.", "missing")
                      : details("Every setting (config.yaml)",
                                element("pre", "tabindex=\"0\"", escape(run.config)));
  if (!run.log.empty()) section.html += details("The end of the log", listing(run.log));
  return section;
}

}  // namespace sagips::analysis::report
