#include "sagips/analysis/figures/solutions.hpp"

#include <cmath>

#include "sagips/analysis/figures/time_axis.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis {

Figure solutions(const record::Results& results) {
  const double right = static_cast<double>(results.others.size()) + 0.5;
  Axis numbers{.label = "solution", .lowest = -0.5, .highest = right};
  for (std::size_t k = 0; k <= results.others.size(); ++k)
    numbers.names.push_back(core::text(k + 1));
  Figure figure;
  for (std::size_t i = 0; i < results.parameters.size(); ++i) {
    const record::ParameterResult& row = results.parameters[i];
    if (row.fixed) continue;
    Series points{.style = Series::Style::points, .colour = Colour::blue};
    const auto add = [&](double value, double below, double above) {
      points.add(static_cast<double>(points.x.size()), value);
      points.add_ends(value - (std::isfinite(below) ? below : 0),
                      value + (std::isfinite(above) ? above : 0));
    };
    const double error = row.error.value_or(0);
    add(row.recovered, row.error_below.value_or(error), row.error_above.value_or(error));
    for (const record::OtherSolution& other : results.others)
      add(other.values[i], other.errors[i], other.errors[i]);
    Panel panel{.x = numbers, .y = {.label = name_text(row)}};
    if (row.truth)
      panel.series.push_back(
          dashed_line("true", Colour::grey, {-0.5, right}, {*row.truth, *row.truth}));
    panel.series.push_back(std::move(points));
    figure.panels.push_back(std::move(panel));
  }
  arrange_in_rows(figure, 90);
  return figure;
}

}  // namespace sagips::analysis
