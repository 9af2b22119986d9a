#include <algorithm>
#include <cmath>
#include <set>

#include "sagips/analysis/figures/learning.hpp"
#include "sagips/analysis/figures/over_time.hpp"
#include "sagips/analysis/lookup.hpp"
#include "sagips/analysis/report/html.hpp"
#include "sagips/analysis/report/sections.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis::report {
namespace {

using record::ParameterResult;
using Runs = std::vector<RunContents>;

constexpr std::size_t most_settings = 60;

std::vector<std::string> header_of(const Runs& runs, std::vector<std::string> first) {
  for (const RunContents& run : runs) first.push_back(run.name);
  return first;
}

/// One row: what `fact` says of each run.
template <class Fact>
void add_row(Table& table, std::vector<std::string> first, const Runs& runs, const Fact& fact) {
  bool is_empty = true;
  for (const RunContents& run : runs) {
    first.push_back(fact(run));
    is_empty = is_empty && first.back().empty();
  }
  if (!is_empty) table.rows.push_back(std::move(first));
}

std::string mean_residual(const RunContents& run) {
  double sum = 0;
  int count = 0;
  for (const ParameterResult& row : run.parameters())
    if (!row.fixed && row.residual_end) sum += std::abs(*row.residual_end), ++count;
  return count > 0 ? core::significant(100 * sum / count, 3) + " %" : "";
}

std::string goodness(const RunContents& run) {
  if (!run.results || run.results->goodness.empty()) return {};
  const auto& one = run.results->goodness.front();
  return core::text(
      core::significant(one.value, 3),
      one.degrees_of_freedom > 0 ? core::text(" / ", std::llround(one.degrees_of_freedom)) : "",
      ", p = ", core::significant(one.p_value, 2));
}

bool all_learn(const Runs& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const auto& run) { return run.is_learning(); });
}

/// The metrics of learning problems among the runs.
std::vector<std::string> all_metrics(const Runs& runs) {
  std::vector<std::string> names;
  for (const RunContents& run : runs)
    if (run.results && run.is_learning())
      for (const record::MetricResult& metric : record::metrics_of(*run.results))
        if (std::find(names.begin(), names.end(), metric.name) == names.end())
          names.push_back(metric.name);
  return names;
}

std::string facts(const Runs& runs) {
  Table table{.caption = "The runs", .header = header_of(runs, {""}), .style_class = "text"};
  const auto result = [](const auto& say) {
    return
        [say](const RunContents& run) { return run.results ? say(*run.results) : std::string(); };
  };
  add_row(table, {"workload"}, runs, [](const RunContents& run) { return run.workload; });
  add_row(table, {"state"}, runs, [](const RunContents& run) { return state_words(run.state); });
  add_row(table, {"end"}, runs, [](const RunContents& run) { return run.end; });
  add_row(table, {"method"}, runs, result([](const auto& r) { return r.method; }));
  add_row(table, {"data"}, runs, result([](const auto& r) { return r.data_origin; }));
  add_row(table, {all_learn(runs) ? "rows" : "events"}, runs,
          result([](const auto& r) { return core::with_thousands(r.events); }));
  add_row(table, {"seed"}, runs, result([](const auto& r) { return core::text(r.seed); }));
  add_row(table, {"ranks"}, runs, [](const RunContents& run) {
    const auto ranks = number_of(run, "ranks");
    return ranks ? core::text(*ranks) : "";
  });
  add_row(table, {"time"}, runs,
          result([](const auto& r) { return core::significant(r.time_s, 3) + " s"; }));
  for (const std::string& metric : all_metrics(runs))
    add_row(table, {metric}, runs, [&](const RunContents& run) {
      const auto end = number_of(run, metric + "_end");
      return run.is_learning() && end ? core::significant(*end, 4) : "";
    });
  add_row(table, {"goodness"}, runs, goodness);
  add_row(table, {"mean |residual|"}, runs, mean_residual);
  add_row(table, {"errors"}, runs, result([](const auto& r) { return r.errors_from; }));
  return html(table);
}

std::vector<std::string> all_parameters(const Runs& runs) {
  std::vector<std::string> names;
  for (const RunContents& run : runs)
    for (const ParameterResult& row : run.parameters())
      if (std::find(names.begin(), names.end(), row.name) == names.end()) names.push_back(row.name);
  return names;
}

std::string parameters(const Runs& runs) {
  Table values{.caption = "Recovered, in physical units",
               .header = header_of(runs, {"parameter", "true"})};
  Table residuals{.caption = "Residuals (true − recovered) / true",
                  .header = header_of(runs, {"parameter", "floor"})};
  for (const std::string& name : all_parameters(runs)) {
    std::string truth, unit, floor;
    for (const RunContents& run : runs)
      if (const ParameterResult* row = find_named(run.parameters(), name)) {
        unit = row->unit.empty() ? "" : " [" + row->unit + "]";
        if (row->truth) truth = core::significant(*row->truth, 5);
        if (row->floor && floor.empty()) floor = percent(row->floor);
      }
    add_row(values, {name + unit, truth}, runs, [&](const RunContents& run) {
      const ParameterResult* row = find_named(run.parameters(), name);
      return row == nullptr ? "" : recovered_text(*row) + (row->fixed ? " (fixed)" : "");
    });
    add_row(residuals, {name, floor}, runs, [&](const RunContents& run) -> std::string {
      const ParameterResult* row = find_named(run.parameters(), name);
      return row == nullptr || row->fixed ? "" : percent(row->residual_end);
    });
  }
  return (values.rows.empty() ? "" : html(values)) +
         (residuals.rows.empty() ? "" : html(residuals));
}

std::string over_time(const Runs& runs, Gallery& gallery) {
  std::vector<RunLearningCurve> curves;
  std::vector<ParameterResult> references;
  for (const RunContents& run : runs) {
    curves.push_back({run.name, run.metrics, run.name});
    if (references.empty()) references = run.parameters();
  }
  if (std::all_of(curves.begin(), curves.end(), [](const auto& c) { return c.metrics.empty(); }))
    return {};
  if (all_learn(runs))
    return gallery.draw("runs_over_time", member_curves(curves),
                        {"All runs over time", "The metrics of the rows kept aside."});
  return gallery.draw("runs_over_time", runs_over_time(curves, references),
                      {"All runs over time",
                       "One curve a run: the residual (true − recovered) / true where the truth is "
                       "known, else the value. The floor is that of the first run's data."});
}

std::string setting_of(const RunContents& run, const std::string& name) {
  const record::NamedText* setting = find_named(run.settings, name);
  return setting ? setting->value : "";
}

std::string differences(const Runs& runs) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const RunContents& run : runs)
    for (const record::NamedText& setting : run.settings)
      if (seen.insert(setting.name).second) names.push_back(setting.name);
  Table table{
      .caption = "Settings that differ", .header = header_of(runs, {"key"}), .style_class = "text"};
  std::size_t left_out = 0;
  for (const std::string& name : names) {
    const std::string first = setting_of(runs.front(), name);
    const bool differs = std::any_of(runs.begin(), runs.end(), [&](const RunContents& run) {
      return setting_of(run, name) != first;
    });
    if (!differs || name == "run.name") continue;
    if (table.rows.size() < most_settings)
      add_row(table, {name}, runs, [&](const RunContents& run) { return setting_of(run, name); });
    else
      ++left_out;
  }
  if (left_out > 0) table.note = core::text(left_out, " more keys differ.");
  return table.rows.empty() ? paragraph("All settings but the name are the same.") : html(table);
}

}  // namespace

std::vector<Section> comparison_sections(const Runs& runs, Gallery& gallery) {
  return {{"runs", "Side by side", facts(runs) + parameters(runs)},
          {"all-over-time", "Over time", over_time(runs, gallery)},
          {"settings", "What differs", differences(runs)}};
}

}  // namespace sagips::analysis::report
