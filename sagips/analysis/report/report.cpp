#include "sagips/analysis/report/report.hpp"

#include <ctime>

#include "sagips/analysis/report/gallery.hpp"
#include "sagips/analysis/report/html.hpp"
#include "sagips/analysis/report/run_contents.hpp"
#include "sagips/analysis/report/sections.hpp"
#include "sagips/analysis/report/style.hpp"
#include "sagips/core/text.hpp"
#include "sagips/core/version.hpp"

namespace sagips::analysis::report {
namespace {

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  localtime_r(&time, &parts);
  char buffer[64];
  return {buffer, std::strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M", &parts)};
}

/// Links to all sections that have content.
std::string contents(const std::vector<Section>& sections) {
  std::string links;
  for (const Section& section : sections)
    if (!section.html.empty())
      links += element("li", "",
                       element("a", "href=\"#" + escape(section.id) + "\"", escape(section.title)));
  return element("nav", "aria-label=\"Contents\"", element("ul", "", links));
}

std::string body_of(const std::vector<Section>& sections, const std::string& heading) {
  std::string html;
  for (const Section& section : sections)
    if (!section.html.empty())
      html += element("section", "id=\"" + escape(section.id) + "\"",
                      element(heading, "", escape(section.title)) + section.html);
  return html;
}

std::string page(const std::string& title, const std::string& body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n" +
         element("title", "", escape(title)) + element("style", "", style_sheet) +
         "</head>\n<body>\n" + body +
         element("footer", "",
                 escape(core::text("Written by sagips ", core::version(), " (", core::git_hash(),
                                   ") on ", now(), "."))) +
         "</body>\n</html>\n";
}

/// "training on toy data, 100,000 events, seed 1"
std::string subtitle(const RunContents& run) {
  if (!run.results) return "workload " + run.workload;
  const record::Results& results = *run.results;
  std::vector<std::string> parts{results.workload};
  if (!results.method.empty()) parts.push_back(results.method);
  if (results.events > 0) parts.push_back(core::with_thousands(results.events) + " " + run.unit());
  parts.push_back(results.data_origin);
  parts.push_back(core::text("seed ", results.seed));
  return core::join(parts, " · ");
}

std::string head_of(const RunContents& run) {
  return paragraph(subtitle(run), "subtitle") + verdicts(run);
}

std::string single(const RunContents& run, Gallery& gallery) {
  const std::vector<Section> sections = run_sections(run, gallery, "");
  return element("header", "", element("h1", "", escape(run.name)) + head_of(run)) +
         contents(sections) + element("main", "", body_of(sections, "h2"));
}

std::string several(const std::vector<RunContents>& runs, Gallery& gallery) {
  std::vector<Section> sections = comparison_sections(runs, gallery);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string prefix = core::text("run", i + 1, "-");
    const std::string everything = body_of(run_sections(runs[i], gallery, prefix), "h3");
    sections.push_back({core::text("run", i + 1), runs[i].name,
                        head_of(runs[i]) + details("Everything of this run", everything)});
  }
  const std::string title = core::text(runs.size(), " runs compared");
  return element("header", "", element("h1", "", title)) + contents(sections) +
         element("main", "", body_of(sections, "h2"));
}

}  // namespace

std::string report_page(const std::vector<std::string>& folders,
                        const std::string& figures_folder) {
  std::vector<RunContents> runs;
  for (const std::string& folder : folders) runs.push_back(read_run(folder));
  Gallery gallery(figures_folder, figure_config(runs.front()));
  if (runs.size() == 1) return page("SAGIPS: " + runs[0].name, single(runs[0], gallery));
  return page(core::text("SAGIPS: ", runs.size(), " runs"), several(runs, gallery));
}

}  // namespace sagips::analysis::report
