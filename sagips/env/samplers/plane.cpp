#include "sagips/env/samplers/plane.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

namespace {

Axis checked(const Axis& axis, const std::string& where) {
  axis.check(where);
  return axis;
}

// Sums from the far end, where densities are usually small and float32 would lose them in a sum
// from the near end.
torch::Tensor tails(const torch::Tensor& density, const torch::Tensor& steps) {
  const std::int64_t cells = steps.size(0);
  const torch::Tensor masses =
      (density.narrow(-1, 0, cells) + density.narrow(-1, 1, cells)) * (steps * 0.5);
  return torch::cat(
      {masses.flip(-1).cumsum(-1).flip(-1), torch::zeros_like(density.narrow(-1, 0, 1))}, -1);
}

}  // namespace

Plane::Plane(Axis x, Axis y)
    : x_(checked(x, "plane.x")),
      y_(checked(y, "plane.y")),
      x_positions_(x.positions()),
      y_positions_(y.positions()),
      x_steps_(x.positions().diff()),
      y_steps_(y.positions().diff()) {}

torch::Tensor Plane::above(const torch::Tensor& density) const {
  return tails(density, y_steps_.like(density));
}

torch::Tensor Plane::beyond(const torch::Tensor& density) const {
  return tails(density, x_steps_.like(density));
}

torch::Tensor Plane::cells(const torch::Tensor& density) const {
  const std::int64_t columns = x_.points - 1, rows = y_.points - 1;
  const torch::Tensor lines = density.narrow(-2, 0, columns) + density.narrow(-2, 1, columns);
  const torch::Tensor corners = lines.narrow(-1, 0, rows) + lines.narrow(-1, 1, rows);
  return corners * (x_steps_.like(density).unsqueeze(1) * y_steps_.like(density) * 0.25);
}

void Plane::check_table(const std::string& stage, const torch::Tensor& table) const {
  if (table.dim() != 3 || table.size(1) != x_.points || table.size(2) != y_.points)
    throw core::ShapeError(
        stage, core::text("gets shape ", table.sizes(), ", expected [samples, ", x_.points, ", ",
                          y_.points, "]. Tabulate the density on the sampler's plane."));
}

}  // namespace sagips::env
