#include "sagips/analysis/figures/time_axis.hpp"

#include <algorithm>

namespace sagips::analysis {

TimeUnit time_unit(double longest_s) {
  if (longest_s > 3 * 3600) return {3600, "h"};
  if (longest_s > 3 * 60) return {60, "min"};
  return {};
}

void arrange_in_rows(Figure& figure, int above) {
  const int panels = static_cast<int>(figure.panels.size());
  figure.columns = panels == 4 ? 2 : std::clamp(panels, 1, 3);
  figure.width = figure.columns == 1 ? 700 : 1100;
  figure.height = above + 310 * ((panels + figure.columns - 1) / figure.columns);
}

void arrange_in_grid(Figure& figure) {
  arrange_in_rows(figure, 60);
  // Panels of a row that show the same quantity need its name once.
  const auto columns = static_cast<std::size_t>(figure.columns);
  for (std::size_t i = figure.panels.size(); i-- > 1;)
    if (i % columns != 0 && figure.panels[i].y.label == figure.panels[i - 1].y.label)
      figure.panels[i].y.label.clear();
}

}  // namespace sagips::analysis
