#include "sagips/analysis/figures/methods_over_time.hpp"

#include <algorithm>

namespace sagips::analysis {

Figure methods_over_time(const std::vector<MethodLearningCurve>& curves,
                         const std::string& distance_label, double floor, double budget_s) {
  constexpr double earliest_s = 1e-3;  // what a logarithmic axis shows of time 0
  Panel panel{.x = {.label = "time [s]", .logarithmic = true},
              .y = {.label = distance_label, .logarithmic = true}};
  double first = budget_s;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const MethodLearningCurve& curve = curves[i];
    Series line{
        .label = curve.method, .x = curve.time_s, .y = curve.distance, .colour = colour_of(i)};
    for (double& time : line.x) time = std::max(time, earliest_s);
    if (line.x.empty()) continue;
    first = std::min(first, line.x.front());
    if (line.x.back() < budget_s)
      panel.series.push_back(
          dashed_line("", line.colour, {line.x.back(), budget_s}, {line.y.back(), line.y.back()}));
    if (line.x.size() == 1) line.style = Series::Style::points;
    panel.series.push_back(std::move(line));
  }
  if (floor > 0 && first < budget_s)
    panel.series.push_back(
        dashed_line("Cramér-Rao floor", Colour::grey, {first, budget_s}, {floor, floor}));
  return {.panels = {std::move(panel)}, .width = 1000, .height = 600};
}

}  // namespace sagips::analysis
