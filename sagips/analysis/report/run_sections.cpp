#include <algorithm>

#include "sagips/analysis/figures/learning.hpp"
#include "sagips/analysis/figures/over_time.hpp"
#include "sagips/analysis/figures/parameter_pairs.hpp"
#include "sagips/analysis/lookup.hpp"
#include "sagips/analysis/report/html.hpp"
#include "sagips/analysis/report/sections.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::analysis::report {
namespace {

using State = RunContents::State;

constexpr std::size_t most_warnings = 20;

/// Figures in as many columns as have room.
std::string side_by_side(const std::string& figures) {
  return figures.empty() ? figures : element("div", "class=\"figures\"", figures);
}

/// The figures of one run: those it drew, and those that its records still allow to draw.
class RunFigures {
 public:
  RunFigures(const RunContents& run, Gallery& gallery, const std::string& prefix)
      : run_(run), gallery_(gallery), prefix_(prefix), left_(run.figures) {}

  /// The run's own figure; HTML, empty when there is none.
  std::string own(const std::string& name) {
    const auto found = std::find(left_.begin(), left_.end(), name);
    if (found == left_.end()) return {};
    left_.erase(found);
    return gallery_.take(prefix_ + name,
                         core::text(run_.folder, "/", record::run_files::figures.name, "/", name),
                         caption_of(name));
  }
  /// A running or killed run's figure is drawn from what it has recorded so far.
  template <class Draw>
  std::string own_or_drawn(const std::string& name, bool can_draw, const Draw& draw) {
    if (std::string html = own(name); !html.empty()) return html;
    return can_draw ? gallery_.draw(prefix_ + name, draw(), caption_of(name)) : "";
  }
  std::string all_beginning_with(const std::string& begin) { return side_by_side(stacked(begin)); }
  /// One below the other: figures of many panels need the width.
  std::string stacked(const std::string& begin) {
    std::string html;
    for (const std::string& name : std::vector<std::string>(left_))
      if (name.rfind(begin, 0) == 0) html += own(name);
    return html;
  }

 private:
  const RunContents& run_;
  Gallery& gallery_;
  std::string prefix_;
  std::vector<std::string> left_;
};

Figure pairs(const FreeProposals& free) {
  std::vector<std::string> names;
  std::vector<std::optional<double>> truth;
  for (const record::ParameterResult* parameter : free.parameters) {
    names.push_back(name_text(*parameter));
    truth.push_back(parameter->truth);
  }
  return parameter_pairs(std::vector<float>(free.samples.begin(), free.samples.end()), names,
                         truth);
}

std::string note_on_observables(const RunContents& run, const std::string& figures) {
  if (!figures.empty()) return figures;
  const bool has_ended = run.state != State::running && run.state != State::unfinished;
  return paragraph(has_ended ? "The run drew no figures of its observables (run.figures=false, or "
                               "gnuplot was missing)."
                             : "Figures of the observables are drawn when a run ends.",
                   "missing");
}

std::string environment_table(const RunContents& run) {
  if (run.environment.empty())
    return paragraph("environment.json is not in the run folder.", "missing");
  Table table{.caption = "Where and with what the run was made",
              .header = {"what", "value"},
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

Section setup_section(const RunContents& run) {
  std::string html = warnings(run) + environment_table(run);
  html += run.config.empty() ? paragraph("config.yaml is not in the run folder.", "missing")
                             : details("Every setting (config.yaml)",
                                       element("pre", "tabindex=\"0\"", escape(run.config)));
  if (!run.log.empty()) html += details("The end of the log", listing(run.log));
  return {"setup", "How it was made", html};
}

Section metric_section(const RunContents& run) {
  Table table{.caption = "Over the rows that were kept aside", .header = metric_header()};
  if (run.results) table.rows = metric_rows(*run.results);
  return {"metrics", "Metrics",
          table.rows.empty() ? paragraph("There are no results yet.", "missing") : html(table)};
}

// The sections of a network that learns targets from inputs.
std::vector<Section> learning_sections(const RunContents& run, RunFigures& figures) {
  const bool evaluated = !events_of<record::Evaluated>(run.metrics).empty();
  std::vector<Section> sections{metric_section(run)};
  sections.push_back({"over-time", "Over the epochs",
                      figures.own_or_drawn("learning_curves", evaluated,
                                           [&] { return learning_curves(run.metrics); })});
  sections.push_back({"classes", "Classes", figures.own("confusion") + figures.own("roc")});
  sections.push_back(
      {"values", "Values",
       side_by_side(figures.own("residuals") + figures.own("predicted_against_true"))});
  sections.push_back({"made", "Real and made examples",
                      figures.stacked("made_examples") + figures.stacked("compared_")});
  return sections;
}

std::vector<Section> with_prefix(std::vector<Section> sections, const std::string& prefix) {
  for (Section& section : sections) section.id = prefix + section.id;
  return sections;
}

// What a search for parameters shows of its way and its answer.
void add_training_sections(std::vector<Section>& sections, const RunContents& run,
                           RunFigures& figures) {
  const bool evaluated = !events_of<record::Evaluated>(run.metrics).empty();
  sections.push_back(
      {"over-time", "Over time", figures.own_or_drawn("residuals_over_time", evaluated, [&] {
         return residuals_over_time(run.metrics, run.parameters());
       })});
  sections.back().html += figures.own("methods_over_time");
  sections.push_back({"observables", "Observables",
                      note_on_observables(run, figures.all_beginning_with("observable_"))});
  sections.push_back({"densities", "Densities", figures.all_beginning_with("densities")});
  const auto free = free_proposals(run);
  sections.push_back({"errors", "Errors", figures.own("deviations")});
  sections.back().html += figures.own("error_ellipses");
  sections.push_back(
      {"pairs", "Proposals of the generator",
       figures.own_or_drawn("generator_samples", free.has_value(), [&] { return pairs(*free); })});
  std::string losses = figures.own_or_drawn("losses_over_time", evaluated,
                                            [&] { return losses_over_time(run.metrics); });
  losses += figures.own_or_drawn("distances_over_time", evaluated,
                                 [&] { return distances_over_time(run.metrics); });
  sections.push_back({"losses", "Losses and distances", side_by_side(losses)});
}

}  // namespace

std::vector<Section> run_sections(const RunContents& run, Gallery& gallery,
                                  const std::string& prefix) {
  RunFigures figures(run, gallery, prefix);
  std::vector<Section> sections;
  if (run.is_learning() && !run.is_study())
    sections = learning_sections(run, figures);
  else
    sections = {parameter_section(run), correlation_section(run, gallery, prefix)};
  if (run.is_study()) {  // its pictures are what it was made for
    if (run.parameters().empty()) sections.front().html.clear();
    sections.push_back({"figures", "Figures", figures.stacked("")});
    sections.push_back(study_section(run));
    sections.push_back(member_section(run));
  } else {
    if (!run.is_learning()) add_training_sections(sections, run, figures);
    sections.push_back({"more", "More figures", figures.all_beginning_with("")});
    sections.push_back(timing_section(run));
  }
  sections.push_back(setup_section(run));
  return with_prefix(std::move(sections), prefix);
}

}  // namespace sagips::analysis::report
