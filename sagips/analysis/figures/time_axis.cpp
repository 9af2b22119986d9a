#include "sagips/analysis/figures/time_axis.hpp"

#include <algorithm>

namespace sagips::analysis {
namespace {

int handy_columns(std::size_t panels) {
  if (panels <= 3) return std::max(1, static_cast<int>(panels));
  return panels == 4 ? 2 : 3;
}

}  // namespace

TimeUnit time_unit(double longest_s) {
  if (longest_s > 3 * 3600) return {3600, "h"};
  if (longest_s > 3 * 60) return {60, "min"};
  return {};
}

void arrange_in_grid(Figure& figure) {
  figure.columns = handy_columns(figure.panels.size());
  // Panels of a row that show the same quantity need its name once.
  const auto columns = static_cast<std::size_t>(figure.columns);
  for (std::size_t i = figure.panels.size(); i-- > 1;)
    if (i % columns != 0 && figure.panels[i].y.label == figure.panels[i - 1].y.label)
      figure.panels[i].y.label.clear();
  figure.width = figure.columns == 1 ? 700 : 1100;
  figure.height = 60 + 310 * static_cast<int>((figure.panels.size() + columns - 1) / columns);
}

}  // namespace sagips::analysis
