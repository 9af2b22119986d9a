#include "sagips/analysis/figures/runs_over_time.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/analysis/residuals.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {
namespace {

using record::Evaluated;
using record::ParameterState;

struct Course {
  std::string name;
  std::vector<const Evaluated*> evaluations;
};

std::vector<Course> courses_of(const std::vector<RunCourse>& runs) {
  std::vector<Course> courses;
  for (const RunCourse& run : runs) {
    Course course{run.name, {}};
    for (const record::Event& event : run.metrics)
      if (const auto* one = std::get_if<Evaluated>(&event)) course.evaluations.push_back(one);
    if (!course.evaluations.empty()) courses.push_back(std::move(course));
  }
  return courses;
}

Series curve(const Course& course, const ParameterState& parameter, double unit_s) {
  Series series{.label = course.name};
  for (const Evaluated* evaluated : course.evaluations)
    for (const ParameterState& state : evaluated->parameters) {
      if (state.name != parameter.name) continue;
      series.x.push_back(evaluated->time_s / unit_s);
      series.y.push_back(parameter.truth ? 100 * residual(*parameter.truth, state.value)
                                         : state.value);
    }
  if (series.x.size() == 1) series.style = Series::Style::points;
  return series;
}

void add_floor(const std::string& name, const std::vector<record::ParameterResult>& references,
               double longest, Panel& panel) {
  for (const record::ParameterResult& reference : references) {
    if (reference.name != name || !reference.floor) continue;
    const double floor = 100 * *reference.floor;
    for (const double y : {floor, -floor})
      panel.series.push_back({.label = y > 0 ? "± Cramér-Rao floor" : "",
                              .style = Series::Style::dashed,
                              .x = {0, longest},
                              .y = {y, y},
                              .colour = Colour::grey});
  }
}

}  // namespace

Figure runs_over_time(const std::vector<RunCourse>& runs,
                      const std::vector<record::ParameterResult>& references) {
  const std::vector<Course> courses = courses_of(runs);
  if (courses.empty()) return {.panels = {{.title = "no evaluation in these runs"}}};
  double longest_s = 0;
  for (const Course& course : courses)
    longest_s = std::max(longest_s, course.evaluations.back()->time_s);
  const bool in_minutes = longest_s > 180;
  const double unit_s = in_minutes ? 60 : 1;
  Figure figure{.shared_x = true};
  for (const ParameterState& parameter : courses.front().evaluations.front()->parameters) {
    if (parameter.fixed) continue;
    Panel panel{
        .title = parameter.name,
        .x = {.label = in_minutes ? "training time [min]" : "training time [s]"},
        .y = {.label = parameter.truth          ? "residual [%]"
                       : parameter.unit.empty() ? "value"
                                                : core::text("value [", parameter.unit, "]")}};
    if (parameter.truth) panel.horizontal_lines = {0};
    if (parameter.truth) add_floor(parameter.name, references, longest_s / unit_s, panel);
    for (const Course& course : courses) panel.series.push_back(curve(course, parameter, unit_s));
    figure.panels.push_back(std::move(panel));
  }
  if (figure.panels.empty()) figure.panels.push_back({.title = "every parameter is fixed"});
  const std::size_t count = figure.panels.size();
  figure.columns = count <= 3 ? static_cast<int>(count) : count == 4 ? 2 : 3;
  const auto rows = (static_cast<int>(count) + figure.columns - 1) / figure.columns;
  figure.width = figure.columns == 1 ? 700 : 1100;
  figure.height = 60 + 310 * rows + 20 * static_cast<int>(courses.size() / 4);
  return figure;
}

}  // namespace sagips::analysis
