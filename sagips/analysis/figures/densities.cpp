#include "sagips/analysis/figures/densities.hpp"

#include <algorithm>

#include "sagips/core/error.hpp"

namespace sagips::analysis {
namespace {

using Style = Series::Style;

Series band(const DensityBand& density, const std::string& label) {
  return {.label = label,
          .style = Style::band,
          .x = density.x,
          .y_low = density.low,
          .y_high = density.high,
          .colour = Colour::blue};
}

Series curve(const DensityBand& density, const std::string& label) {
  return {.label = label, .x = density.x, .y = density.mean, .colour = Colour::blue};
}

Panel density_panel(const DensityBand& density, const std::string& band_label) {
  Panel panel{.title = density.name, .relative_height = 3};
  panel.series = {band(density, band_label), curve(density, "recovered, mean")};
  if (!density.truth.empty())
    panel.series.push_back(dashed_line("true", Colour::vermillion, density.x, density.truth));
  return panel;
}

/// Everything divided by the truth: 0 / 0 and 1 / 0 leave gaps.
Panel ratio_panel(DensityBand density) {
  for (auto* values : {&density.mean, &density.low, &density.high})
    std::transform(values->begin(), values->end(), density.truth.begin(), values->begin(),
                   [](double value, double truth) { return value / truth; });
  // where a density ends, ratios have no bound
  Panel panel{.y = {.label = "ratio to true", .lowest = 0, .highest = 2}, .horizontal_lines = {1}};
  panel.series = {band(density, ""), curve(density, "")};
  return panel;
}

bool fits(const DensityBand& density) {
  const std::size_t count = density.x.size();
  return density.mean.size() == count && density.low.size() == count &&
         density.high.size() == count && (density.truth.empty() || density.truth.size() == count);
}

}  // namespace

Figure densities_with_band(const std::vector<DensityBand>& densities, const std::string& x_label,
                           const std::string& band_label) {
  if (densities.empty() || !std::all_of(densities.begin(), densities.end(), fits))
    throw core::Error(
        "figure: densities are missing or their lengths differ. Give one or more, "
        "each with one value an x.");
  Figure figure{.columns = static_cast<int>(densities.size()), .shared_x = true};
  for (const DensityBand& density : densities)
    figure.panels.push_back(density_panel(density, band_label));
  for (const DensityBand& density : densities)
    figure.panels.push_back(density.truth.empty() ? Panel{} : ratio_panel(density));
  for (Panel& panel : figure.panels) panel.x.label = x_label;
  figure.width = 100 + 450 * figure.columns;
  figure.height = 550;
  figure.keeps_columns = true;
  return figure;
}

}  // namespace sagips::analysis
