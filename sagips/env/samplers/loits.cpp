#include "sagips/env/samplers/loits.hpp"

#include <limits>

namespace sagips::env {

namespace {

constexpr std::int64_t interpolation_points = 10;

// Share of a cell's width at which a density that is linear from `low` to `high` has cumulated to
// u, linear between the interpolation points. shape: [samples, events]
torch::Tensor share(const torch::Tensor& low, const torch::Tensor& high, const torch::Tensor& u) {
  const torch::Tensor s = torch::linspace(0, 1, interpolation_points, u.options());
  const torch::Tensor cumulated =
      low.unsqueeze(2) * s + (high - low).unsqueeze(2) * s.square() * 0.5;
  const torch::Tensor target = u.unsqueeze(2) * cumulated.narrow(2, interpolation_points - 1, 1);
  const torch::Tensor upper =
      torch::searchsorted(cumulated.detach().contiguous(), target.detach().contiguous())
          .clamp_(1, interpolation_points - 1);
  const torch::Tensor at_lower = cumulated.gather(2, upper - 1);
  const double smallest = std::numeric_limits<float>::min();
  const torch::Tensor part =
      ((target - at_lower) / (cumulated.gather(2, upper) - at_lower).clamp_min(smallest))
          .clamp(0, 1);
  return ((upper - 1).to(u.scalar_type()) + part).squeeze(2) /
         static_cast<double>(interpolation_points - 1);
}

}  // namespace

Loits::Choice Loits::choose(const torch::Tensor& table, Noise& noise) const {
  torch::NoGradGuard no_grad;
  // float64, since a sum of many cells in float32 would lose the last ones
  const torch::Tensor mass = plane_.cells(table.to(torch::kFloat64)).flatten(1);
  const std::int64_t last = mass.size(1) - 1;
  if (counts_ == Counts::multinomial) {
    const torch::Tensor cumulated = mass.cumsum(1);
    const torch::Tensor u = noise.uniform().to(torch::kFloat64) * cumulated.narrow(1, last, 1);
    return {torch::searchsorted(cumulated, u).clamp_(0, last), {}};
  }
  const torch::Tensor counts =
      torch::floor(mass / mass.sum(1, true) * static_cast<double>(noise.events()));
  const torch::Tensor cumulated = counts.cumsum(1);
  const torch::Tensor number =
      (torch::arange(noise.events(), mass.options()) + 0.5).expand({mass.size(0), -1}).contiguous();
  return {torch::searchsorted(cumulated, number).clamp_(0, last),
          number < cumulated.narrow(1, last, 1)};
}

Events Loits::operator()(Events density, Noise& noise) const {
  plane_.check_table(name(), density.values);
  const torch::Tensor table = density.values;
  const std::int64_t rows = plane_.y().points;
  const Choice choice = choose(table, noise);
  const torch::Tensor column = torch::floor_divide(choice.cell, rows - 1);
  const torch::Tensor row = choice.cell - column * (rows - 1);
  const torch::Tensor flat = table.flatten(1), corner = column * rows + row;
  const auto at = [&](std::int64_t right, std::int64_t up) {
    return flat.gather(1, corner + right * rows + up);
  };
  const torch::Tensor near = at(0, 0), above = at(0, 1), right = at(1, 0), far = at(1, 1);
  const torch::Tensor across = share(near + above, right + far, noise.uniform());
  const torch::Tensor upwards = share(near + right, above + far, noise.uniform());
  const auto place = [&](const Constant& positions, const Constant& steps,
                         const torch::Tensor& cell, const torch::Tensor& part) {
    return positions.like(table).index({cell}) + steps.like(table).index({cell}) * part;
  };
  Events events = std::move(density);
  events.values = torch::stack({place(plane_.x_positions(), plane_.x_steps(), column, across),
                                place(plane_.y_positions(), plane_.y_steps(), row, upwards)},
                               2);
  if (choice.exists.defined()) events.mask = choice.exists;
  return events;
}

}  // namespace sagips::env
