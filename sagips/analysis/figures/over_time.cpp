#include "sagips/analysis/figures/over_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "sagips/analysis/figures/time_axis.hpp"
#include "sagips/analysis/residuals.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

using record::Evaluated;
using record::ParameterResult;
using record::ParameterState;
using Style = Series::Style;

constexpr double large_ratio = 10;        // from here on a logarithmic axis shows more
constexpr double groups_per_decade = 60;  // of time, on a logarithmic axis

template <class Kind>
std::vector<Kind> events_of_kind(const std::vector<record::Event>& metrics) {
  std::vector<Kind> events;
  for (const record::Event& event : metrics)
    if (const auto* found = std::get_if<Kind>(&event)) events.push_back(*found);
  std::stable_sort(events.begin(), events.end(),
                   [](const Kind& a, const Kind& b) { return a.time_s < b.time_s; });
  return events;
}

/// A band of constant height over the whole time axis.
Series level(std::string label, Colour colour, const std::vector<double>& x, double low,
             double high) {
  Series series{.label = std::move(label), .style = Style::band, .colour = colour};
  series.x = {x.front(), x.back()};
  series.y_low = {low, low};
  series.y_high = {high, high};
  return series;
}

Series level_line(std::string label, Colour colour, const std::vector<double>& x, double y) {
  return {.label = std::move(label),
          .style = Style::dashed,
          .x = {x.front(), x.back()},
          .y = {y, y},
          .colour = colour};
}

/// What one parameter did, with its spread around it.
struct CurveInBand {
  Series line, band;
};

/// scale: turns a state into the number shown and the half width of its band
template <class Scale>
CurveInBand course(const std::vector<Evaluated>& evaluations, std::size_t parameter, double unit_s,
                   const Scale& scale) {
  CurveInBand course{{.colour = Colour::blue}, {.style = Style::band, .colour = Colour::blue}};
  for (const Evaluated& evaluation : evaluations) {
    if (parameter >= evaluation.parameters.size()) continue;
    const auto [value, half_width] = scale(evaluation.parameters[parameter]);
    const double time = evaluation.time_s / unit_s;
    course.line.x.push_back(time);
    course.line.y.push_back(value);
    course.band.x.push_back(time);
    course.band.y_low.push_back(value - half_width);
    course.band.y_high.push_back(value + half_width);
  }
  return course;
}

Panel residual_panel(const std::vector<Evaluated>& evaluations, std::size_t parameter,
                     double unit_s, const ParameterResult& reference) {
  const ParameterState& known = evaluations.front().parameters[parameter];
  auto [line, band] = course(evaluations, parameter, unit_s,
                             [&](const ParameterState& state) -> std::pair<double, double> {
                               return {100 * residual(*known.truth, state.value),
                                       100 * state.spread / std::abs(*known.truth)};
                             });
  line.label = "residual (true − recovered) / true";
  band.label = "± spread over noise vectors";
  Panel panel{.title = known.name, .y = {.label = "residual [%]"}, .horizontal_lines = {0}};
  if (reference.floor && std::isfinite(*reference.floor)) {
    const double floor = 100 * *reference.floor;
    panel.series.push_back(level_line("± Cramér-Rao floor", Colour::vermillion, line.x, floor));
    panel.series.push_back(level_line("", Colour::vermillion, line.x, -floor));
  }
  panel.series.push_back(std::move(band));
  panel.series.push_back(std::move(line));
  return panel;
}

Panel value_panel(const std::vector<Evaluated>& evaluations, std::size_t parameter, double unit_s,
                  const ParameterResult& reference) {
  const ParameterState& known = evaluations.front().parameters[parameter];
  auto [line, band] = course(evaluations, parameter, unit_s,
                             [](const ParameterState& state) -> std::pair<double, double> {
                               return {state.value, state.spread};
                             });
  line.label = "recovered value";
  band.label = "± spread over noise vectors";
  Panel panel{
      .title = known.name,
      .y = {.label = known.unit.empty() ? "value" : core::text("value [", known.unit, "]")}};
  if (reference.fit_value && reference.fit_error) {
    const double fit = *reference.fit_value, error = *reference.fit_error;
    panel.series.push_back(level("fit of the same data ± error", Colour::vermillion, line.x,
                                 fit - error, fit + error));
    panel.series.push_back(level_line("", Colour::vermillion, line.x, fit));
  }
  panel.series.push_back(std::move(band));
  panel.series.push_back(std::move(line));
  return panel;
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
    line.x.push_back(group.time / group.count);
    line.y.push_back(group.sum / group.count);
    band.y_low.push_back(group.low);
    band.y_high.push_back(group.high);
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
  const auto evaluations = events_of_kind<Evaluated>(metrics);
  Figure figure{.shared_x = true};
  if (evaluations.empty()) return {.panels = {{.title = "no evaluation in this run"}}};
  const TimeUnit unit = time_unit(evaluations.back().time_s);
  const auto& parameters = evaluations.front().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].fixed) continue;
    const auto found = std::find_if(
        references.begin(), references.end(),
        [&](const ParameterResult& reference) { return reference.name == parameters[i].name; });
    const ParameterResult reference = found == references.end() ? ParameterResult{} : *found;
    const auto panel = parameters[i].truth ? residual_panel : value_panel;
    figure.panels.push_back(panel(evaluations, i, unit.seconds, reference));
    figure.panels.back().x.label = unit.label();
  }
  if (figure.panels.empty()) figure.panels.push_back({.title = "every parameter is fixed"});
  arrange_in_grid(figure);
  return figure;
}

Figure losses_over_time(const std::vector<record::Event>& metrics) {
  const auto epochs = events_of_kind<record::EpochDone>(metrics);
  const TimeUnit unit = time_unit(epochs.empty() ? 0 : epochs.back().time_s);
  std::vector<NamedPoints> losses;
  for (const auto& epoch : epochs) collect(epoch.time_s / unit.seconds, epoch.losses, losses);
  Panel panel{.x = {.label = unit.label(), .logarithmic = true},
              .y = {.label = "loss / loss of an even match"},
              .horizontal_lines = {1}};
  for (std::size_t i = 0; i < losses.size(); ++i)
    add_loss(losses[i].name, colour_of(i), group_in_time(losses[i].points), panel);
  if (losses.empty()) panel.title = "no losses in this run";
  return {.panels = {panel}, .width = 800, .height = 500};
}

Figure distances_over_time(const std::vector<record::Event>& metrics) {
  const auto evaluations = events_of_kind<Evaluated>(metrics);
  const TimeUnit unit = time_unit(evaluations.empty() ? 0 : evaluations.back().time_s);
  std::vector<NamedPoints> distances;
  for (const auto& evaluation : evaluations)
    collect(evaluation.time_s / unit.seconds, evaluation.distances, distances);
  Panel panel{.x = {.label = unit.label()}, .y = {.label = "distance to held-out events"}};
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (const NamedPoints& distance : distances) {
    Series series{.label = distance.name};
    for (const auto& [time, value] : distance.points) {
      series.x.push_back(time);
      series.y.push_back(value);
      if (std::isfinite(value)) smallest = std::min(smallest, value);
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
    panel.series.push_back(std::move(series));
  }
  panel.y.logarithmic = smallest > 0 && largest > large_ratio * smallest;
  if (!panel.y.logarithmic) panel.y.lowest = 0;
  if (distances.empty()) panel.title = "no distances in this run";
  return {.panels = {panel}, .width = 800, .height = 500};
}

}  // namespace sagips::analysis
