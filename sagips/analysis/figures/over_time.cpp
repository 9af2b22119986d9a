#include "sagips/analysis/figures/over_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "sagips/analysis/figures/time_axis.hpp"
#include "sagips/analysis/lookup.hpp"
#include "sagips/analysis/residuals.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

using record::Evaluated;
using record::ParameterResult;
using record::ParameterState;
using Evaluations = std::vector<const Evaluated*>;
using Style = Series::Style;

constexpr double large_ratio = 10;        // from here on a logarithmic axis shows more
constexpr double groups_per_decade = 60;  // of time, on a logarithmic axis

/// In the order of their time.
template <class Kind>
std::vector<const Kind*> by_time(const std::vector<record::Event>& metrics) {
  std::vector<const Kind*> events = events_of<Kind>(metrics);
  std::stable_sort(events.begin(), events.end(),
                   [](const Kind* a, const Kind* b) { return a->time_s < b->time_s; });
  return events;
}

/// Without curves. known: the parameter at the first evaluation
Panel parameter_panel(const ParameterState& known, const TimeUnit& unit) {
  Panel panel{.title = known.name, .x = {.label = unit.label()}, .y = {.label = "value"}};
  if (known.truth) {
    panel.y.label = "residual [%]";
    panel.horizontal_lines = {0};
  } else if (!known.unit.empty()) {
    panel.y.label = core::text("value [", known.unit, "]");
  }
  return panel;
}

/// What such a panel shows: the residual of eq. (6) in per cent where the truth is known.
double shown(const ParameterState& state, const std::optional<double>& truth) {
  return truth ? 100 * residual(*truth, state.value) : state.value;
}

/// from, to: times at which the lines begin and end
void add_floor(Panel& panel, const ParameterResult& reference, double from, double to,
               Colour colour) {
  if (!reference.floor || !std::isfinite(*reference.floor)) return;
  const double floor = 100 * *reference.floor;
  panel.series.push_back(dashed_line("± Cramér-Rao floor", colour, {from, to}, {floor, floor}));
  panel.series.push_back(dashed_line("", colour, {from, to}, {-floor, -floor}));
}

void add_fit(Panel& panel, const ParameterResult& reference, double from, double to) {
  if (!reference.fit_value || !reference.fit_error) return;
  const double fit = *reference.fit_value, error = *reference.fit_error;
  panel.series.push_back({.label = "fit of the same data ± error",
                          .style = Style::band,
                          .x = {from, to},
                          .y_low = {fit - error, fit - error},
                          .y_high = {fit + error, fit + error},
                          .colour = Colour::vermillion});
  panel.series.push_back(dashed_line("", Colour::vermillion, {from, to}, {fit, fit}));
}

/// What one parameter did, with its spread around it.
Panel parameter_panel(const Evaluations& evaluations, std::size_t parameter, const TimeUnit& unit,
                      const ParameterResult* reference) {
  const ParameterState& known = evaluations.front()->parameters[parameter];
  Series line{.label = known.truth ? "residual (true − recovered) / true" : "recovered value",
              .colour = Colour::blue};
  Series band{.label = "± spread over noise vectors", .style = Style::band, .colour = Colour::blue};
  for (const Evaluated* evaluated : evaluations) {
    if (parameter >= evaluated->parameters.size()) continue;
    const ParameterState& state = evaluated->parameters[parameter];
    const double value = shown(state, known.truth);
    const double half_width =
        known.truth ? 100 * state.spread / std::abs(*known.truth) : state.spread;
    line.add(evaluated->time_s / unit.seconds, value);
    band.add_ends(value - half_width, value + half_width);
  }
  band.x = line.x;
  Panel panel = parameter_panel(known, unit);
  if (reference != nullptr && known.truth)
    add_floor(panel, *reference, line.x.front(), line.x.back(), Colour::vermillion);
  else if (reference != nullptr)
    add_fit(panel, *reference, line.x.front(), line.x.back());
  panel.series.push_back(std::move(band));
  panel.series.push_back(std::move(line));
  return panel;
}

/// One run as a curve among others.
struct NamedLearningCurve {
  std::string name;
  Evaluations evaluations;
};

Series series_of(const NamedLearningCurve& curve, const ParameterState& parameter,
                 const TimeUnit& unit) {
  Series series{.label = curve.name};
  for (const Evaluated* evaluated : curve.evaluations)
    for (const ParameterState& state : evaluated->parameters)
      if (state.name == parameter.name)
        series.add(evaluated->time_s / unit.seconds, shown(state, parameter.truth));
  if (series.x.size() == 1) series.style = Style::points;
  return series;
}

/// Mean, smallest and largest of neighbours in time.
struct Group {
  double time = 0, sum = 0, low = 0, high = 0;
  int count = 0;
  void add(double at, double value) {
    low = count == 0 ? value : std::min(low, value);
    high = count == 0 ? value : std::max(high, value);
    time += at;
    sum += value;
    ++count;
  }
};

/// Groups of equal width on a logarithmic time axis; numbers that are not finite are left out.
std::vector<Group> group_in_time(const std::vector<std::pair<double, double>>& points) {
  std::map<long, Group> groups;
  for (const auto& [time, value] : points)
    if (time > 0 && std::isfinite(time) && std::isfinite(value))
      groups[std::lround(groups_per_decade * std::log10(time))].add(time, value);
  std::vector<Group> ordered;
  ordered.reserve(groups.size());
  for (const auto& group : groups) ordered.push_back(group.second);
  return ordered;
}

void add_loss(const std::string& name, Colour colour, const std::vector<Group>& groups,
              Panel& panel) {
  Series line{.label = name, .colour = colour};
  Series band{.style = Style::band, .colour = colour};
  for (const Group& group : groups) {
    line.add(group.time / group.count, group.sum / group.count);
    band.add_ends(group.low, group.high);
  }
  band.x = line.x;
  panel.series.push_back(std::move(band));
  panel.series.push_back(std::move(line));
}

/// Named numbers of many events as one list of points a name, in order of first appearance.
struct NamedPoints {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

void collect(double time, const std::vector<record::NamedNumber>& numbers,
             std::vector<NamedPoints>& all) {
  for (const record::NamedNumber& number : numbers) {
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const NamedPoints& known) { return known.name == number.name; });
    if (found == all.end()) found = all.insert(all.end(), NamedPoints{number.name, {}});
    found->points.emplace_back(time, number.value);
  }
}

}  // namespace

Figure residuals_over_time(const std::vector<record::Event>& metrics,
                           const std::vector<ParameterResult>& references) {
  const auto evaluations = by_time<Evaluated>(metrics);
  if (evaluations.empty()) return {.panels = {{.title = "no evaluation in this run"}}};
  const TimeUnit unit = time_unit(evaluations.back()->time_s);
  const auto& parameters = evaluations.front()->parameters;
  Figure figure{.shared_x = true};
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!parameters[i].fixed)
      figure.panels.push_back(
          parameter_panel(evaluations, i, unit, find_named(references, parameters[i].name)));
  if (figure.panels.empty()) figure.panels.push_back({.title = "every parameter is fixed"});
  arrange_in_rows(figure, 60);
  return figure;
}

Figure runs_over_time(const std::vector<RunLearningCurve>& runs,
                      const std::vector<ParameterResult>& references) {
  std::vector<NamedLearningCurve> curves;
  double longest_s = 0;
  for (const RunLearningCurve& run : runs) {
    Evaluations evaluations = events_of<Evaluated>(run.metrics);
    if (evaluations.empty()) continue;
    longest_s = std::max(longest_s, evaluations.back()->time_s);
    curves.push_back({run.name, std::move(evaluations)});
  }
  if (curves.empty()) return {.panels = {{.title = "no evaluation in these runs"}}};
  const TimeUnit unit = longest_s > 180 ? TimeUnit{60, "min"} : TimeUnit{};
  Figure figure{.shared_x = true};
  for (const ParameterState& parameter : curves.front().evaluations.front()->parameters) {
    if (parameter.fixed) continue;
    Panel panel = parameter_panel(parameter, unit);
    const ParameterResult* reference = find_named(references, parameter.name);
    if (parameter.truth && reference != nullptr)
      add_floor(panel, *reference, 0, longest_s / unit.seconds, Colour::grey);
    for (const NamedLearningCurve& curve : curves)
      panel.series.push_back(series_of(curve, parameter, unit));
    figure.panels.push_back(std::move(panel));
  }
  if (figure.panels.empty()) figure.panels.push_back({.title = "every parameter is fixed"});
  arrange_in_rows(figure, 60 + 20 * static_cast<int>(curves.size() / 4));  // the key needs room
  return figure;
}

Figure losses_over_time(const std::vector<record::Event>& metrics) {
  const auto epochs = by_time<record::EpochDone>(metrics);
  const TimeUnit unit = time_unit(epochs.empty() ? 0 : epochs.back()->time_s);
  std::vector<NamedPoints> losses;
  for (const auto* epoch : epochs) collect(epoch->time_s / unit.seconds, epoch->losses, losses);
  Panel panel{.x = {.label = unit.label(), .logarithmic = true},
              .y = {.label = "loss / loss of an even match"},
              .horizontal_lines = {1}};
  for (std::size_t i = 0; i < losses.size(); ++i)
    add_loss(losses[i].name, colour_of(i), group_in_time(losses[i].points), panel);
  if (losses.empty()) panel.title = "no losses in this run";
  return {.panels = {panel}, .width = 800, .height = 500};
}

Figure distances_over_time(const std::vector<record::Event>& metrics) {
  const auto evaluations = by_time<Evaluated>(metrics);
  const TimeUnit unit = time_unit(evaluations.empty() ? 0 : evaluations.back()->time_s);
  std::vector<NamedPoints> distances;
  for (const auto* evaluated : evaluations)
    collect(evaluated->time_s / unit.seconds, evaluated->metrics, distances);
  Panel panel{.x = {.label = unit.label()}, .y = {.label = "distance to held-out events"}};
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (const NamedPoints& distance : distances) {
    Series series{.label = distance.name};
    for (const auto& [time, value] : distance.points) {
      series.add(time, value);
      if (std::isfinite(value)) smallest = std::min(smallest, value);
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
    panel.series.push_back(std::move(series));
  }
  panel.y.logarithmic = smallest > 0 && largest > large_ratio * smallest;
  if (!panel.y.logarithmic && smallest >= 0) panel.y.lowest = 0;
  if (distances.empty()) panel.title = "no distances in this run";
  return {.panels = {panel}, .width = 800, .height = 500};
}

}  // namespace sagips::analysis
