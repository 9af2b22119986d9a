#include "sagips/env/samplers/rosenblatt.hpp"

#include <limits>

namespace sagips::env {

namespace {

// Where a density that is linear in a cell, `near` and `far` at its ends, holds `mass` (in units of
// the cell's width) beyond: the distance from the far end, in widths. The larger root's form of
// far s + (near - far) s^2 / 2 = mass loses nothing where near and far are alike.
torch::Tensor distance(const torch::Tensor& near, const torch::Tensor& far,
                       const torch::Tensor& mass) {
  // an event at the point where a density vanishes must not divide by zero
  const double smallest = std::numeric_limits<float>::min();
  const torch::Tensor root =
      torch::sqrt((far.square() + (near - far) * mass * 2).clamp_min(smallest));
  return (mass * 2 / (far + root).clamp_min(smallest)).clamp(0, 1);
}

/// The conditional densities of y between two lines of the table.
struct Lines {
  torch::Tensor density, tail;  ///< flat tables. shape: [samples, x points * y points]
  torch::Tensor near,
      share;            ///< where the near line begins; weight of it. shape: [samples, events]
  std::int64_t points;  ///< of a line

  // Values of a table at one y point an event, linear between the lines.
  torch::Tensor at(const torch::Tensor& table, const torch::Tensor& point) const {
    return torch::lerp(table.gather(1, near + points + point), table.gather(1, near + point),
                       share);
  }
};

// The last point whose tail holds at least `target`.
torch::Tensor search(const Lines& lines, const torch::Tensor& target) {
  torch::NoGradGuard no_grad;
  torch::Tensor low = torch::zeros_like(lines.near);
  torch::Tensor high = torch::full_like(lines.near, lines.points - 1);
  for (std::int64_t width = lines.points - 1; width > 1; width = (width + 1) / 2) {
    const torch::Tensor middle = torch::floor_divide(low + high, 2);
    const torch::Tensor holds = lines.at(lines.tail, middle) >= target;
    low = torch::where(holds, middle, low);
    high = torch::where(holds, high, middle);
  }
  return low.clamp_max_(lines.points - 2);
}

}  // namespace

Events Rosenblatt::operator()(Events density, Noise& noise) const {
  const torch::Tensor& given = density.values;
  plane_.check_table(name(), given);
  const std::int64_t columns = plane_.x().points, rows = plane_.y().points;
  const torch::Tensor tail_y = plane_.above(given);
  // x does not depend on the density's size, so a constant may bring it to order 1
  const torch::Tensor marginal_raw = tail_y.select(2, 0);
  const torch::Tensor tail_raw = plane_.beyond(marginal_raw);
  const torch::Tensor scale = 1 / tail_raw.detach().narrow(1, 0, 1);
  const torch::Tensor marginal = marginal_raw * scale, tail_x = tail_raw * scale;

  const torch::Tensor u = noise.uniform(), v = noise.uniform();
  const torch::Tensor beyond = u * tail_x.narrow(1, 0, 1);
  const torch::Tensor above = torch::searchsorted(tail_x.detach().flip(1), beyond.detach());
  const torch::Tensor column = (columns - 1 - above).clamp_(0, columns - 2);
  const torch::Tensor step = plane_.x_steps().like(given).index({column});
  const torch::Tensor share = distance(marginal.gather(1, column), marginal.gather(1, column + 1),
                                       (beyond - tail_x.gather(1, column + 1)) / step);
  const torch::Tensor x = plane_.x_positions().like(given).index({column + 1}) - share * step;

  const Lines lines{given.flatten(1), tail_y.flatten(1), column * rows, share, rows};
  const torch::Tensor start = torch::zeros_like(column);
  const torch::Tensor target = v * lines.at(lines.tail, start);
  const torch::Tensor row = search(lines, target.detach());
  const torch::Tensor height = plane_.y_steps().like(given).index({row});
  const torch::Tensor rest = (target - lines.at(lines.tail, row + 1)) * scale / height;
  const torch::Tensor part = distance(lines.at(lines.density, row) * scale,
                                      lines.at(lines.density, row + 1) * scale, rest);
  const torch::Tensor y = plane_.y_positions().like(given).index({row + 1}) - part * height;

  Events events = std::move(density);
  events.values = torch::stack({x, y}, 2);
  return events;
}

}  // namespace sagips::env
