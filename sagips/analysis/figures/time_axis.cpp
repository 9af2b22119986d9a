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

}  // namespace sagips::analysis
