#include "sagips/env/samplers/grid.hpp"

namespace sagips::env {

void Grid::fields(core::FieldList& list) {
  list.add("low", low, "first point of the table");
  list.add("high", high, "upper end of the table");
  list.add("points", points, "points of the table", core::Range::between(3, 1e7));
  list.choice("rule", rule, {{"left", CellRule::left}, {"trapezoid", CellRule::trapezoid}},
              "mass of a cell from the density at its left end (authors' recipe) or both ends");
}

double Grid::step() const {
  return (high - low) / static_cast<double>(rule == CellRule::left ? points : points - 1);
}

double Grid::last() const { return low + step() * static_cast<double>(points - 1); }

torch::Tensor Grid::positions(const torch::TensorOptions& options) const {
  return torch::arange(points, options) * step() + low;
}

torch::Tensor Grid::cells(const torch::Tensor& density) const {
  torch::Tensor left = density.narrow(-1, 0, points - 1);
  if (rule == CellRule::left) return left;
  return (left + density.narrow(-1, 1, points - 1)) * 0.5;
}

torch::Tensor Grid::weights(const torch::TensorOptions& options) const {
  torch::Tensor weights = torch::full({points}, step(), options);
  if (rule == CellRule::left) {
    weights[-1] = 0;
  } else {
    weights[0] = step() / 2;
    weights[-1] = step() / 2;
  }
  return weights;
}

torch::Tensor Grid::integral(const torch::Tensor& density) const {
  return torch::matmul(density, weights(density.options().requires_grad(false)));
}

}  // namespace sagips::env
