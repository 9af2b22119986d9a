#include "sagips/analysis/figures/ensemble.hpp"

namespace sagips::analysis {
namespace {

using Style = Series::Style;

constexpr double percent = 100;

struct Quantity {
  double EnsembleSize::*value;
  double EnsembleSize::*deviation;
};
constexpr Quantity residual_quantity{&EnsembleSize::residual, &EnsembleSize::residual_deviation};
constexpr Quantity spread_quantity{&EnsembleSize::spread, &EnsembleSize::spread_deviation};

void add_curve(const SizeCurve& curve, const Quantity& quantity, Colour colour, Panel& panel) {
  Series line{.label = curve.label, .colour = colour};
  Series band{.style = Style::band, .colour = colour};
  const bool is_spread = quantity.value == &EnsembleSize::spread;
  for (const EnsembleSize& size : curve.sizes) {
    if (is_spread && size.members < 2) continue;  // one member has none
    const double value = percent * size.*quantity.value, half = percent * size.*quantity.deviation;
    line.add(static_cast<double>(size.members), value);
    band.add_ends(value - half, value + half);
  }
  band.x = line.x;
  if (line.x.size() == 1) line.style = Style::points;
  if (line.x.size() > 1) panel.series.push_back(std::move(band));
  panel.series.push_back(std::move(line));
}

void add_points(const std::vector<VariantQuality>& variants, double EnsembleQuality::*number,
                Panel& panel) {
  Series points{.style = Style::points, .colour = Colour::blue};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const double value = percent * variants[i].quality.*number;
    const double error = percent * variants[i].error.*number;
    panel.x.names.push_back(variants[i].label);
    points.add(static_cast<double>(i), value);
    points.add_ends(value - error, value + error);
  }
  panel.x.lowest = -0.5;
  panel.x.highest = static_cast<double>(variants.size()) - 0.5;
  panel.y.lowest = 0;
  panel.series.push_back(std::move(points));
}

}  // namespace

Figure ensemble_sizes(const std::vector<SizeCurve>& curves) {
  Panel residuals{.x = {.label = "members of the ensemble", .whole = true},
                  .y = {.label = "RMS residual [%]", .lowest = 0}};
  Panel spreads{.x = residuals.x, .y = {.label = "spread [%]", .lowest = 0}};
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Colour colour = colour_of(i);
    add_curve(curves[i], residual_quantity, colour, residuals);
    add_curve(curves[i], spread_quantity, colour, spreads);
  }
  return {.panels = {std::move(residuals), std::move(spreads)},
          .shared_x = true,
          .width = 800,
          .height = 700};
}

Figure ensemble_variants(const std::vector<VariantQuality>& variants) {
  Panel spreads{.y = {.label = "spread [%]"}}, residuals{.y = {.label = "RMS residual [%]"}};
  add_points(variants, &EnsembleQuality::spread, spreads);
  add_points(variants, &EnsembleQuality::residual, residuals);
  return {.panels = {std::move(spreads), std::move(residuals)},
          .shared_x = true,
          .width = 900,
          .height = 700};
}

}  // namespace sagips::analysis
