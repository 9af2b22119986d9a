#include "sagips/env/samplers/inverse_cdf.hpp"

#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

// Ascending survival function: entry k belongs to point n - 1 - k. shape: [samples, observables,
// points]
torch::Tensor InverseCdf::survival(const torch::Tensor& densities) const {
  const Grid& grid = config_.grid;
  torch::Tensor masses;
  if (grid.rule == CellRule::left)
    masses = densities;
  else
    masses = torch::cat({grid.cells(densities), torch::zeros_like(densities.narrow(-1, 0, 1))}, -1);
  const torch::Tensor tail = masses.flip(-1).cumsum(-1);
  return tail / tail.narrow(-1, grid.points - 1, 1);
}

Events InverseCdf::operator()(Events densities, Noise& noise) const {
  const Grid& grid = config_.grid;
  const torch::Tensor& table = densities.values;
  if (table.dim() != 3 || table.size(2) != grid.points)
    throw core::ShapeError(
        name(), core::text("gets shape ", table.sizes(), ", expected [samples, ", "observables, ",
                           grid.points, "]. Tabulate the densities on the sampler's grid."));
  const std::int64_t observables = table.size(1);
  std::vector<torch::Tensor> draws;
  for (std::int64_t k = 0; k < observables; ++k) draws.push_back(noise.uniform());
  const torch::Tensor u =
      torch::stack(draws, 1) * config_.coverage;  // [samples, observables, events]

  const torch::Tensor tail = survival(table);
  const torch::Tensor upper = torch::searchsorted(tail.detach(), u).clamp_(1, grid.points - 1);
  const torch::Tensor lower = upper - 1;
  const torch::Tensor s_lower = tail.gather(2, lower);
  const torch::Tensor s_upper = tail.gather(2, upper);
  // An empty cell has no width in S; nothing is drawn in it, but its quotient must not be 0 / 0.
  const double smallest = std::numeric_limits<float>::min();
  const torch::Tensor share = ((u - s_lower) / (s_upper - s_lower).clamp_min(smallest)).clamp(0, 1);
  // x falls by one step from entry k - 1 to entry k
  const torch::Tensor x_lower = lower.to(u.scalar_type()) * -grid.step() + grid.last();

  Events events = std::move(densities);
  for (std::size_t k = 0; k < config_.norm_names.size(); ++k)
    events.numbers[config_.norm_names[k]] =
        grid.integral(events.values.select(1, static_cast<std::int64_t>(k)));
  events.values = (x_lower - share * grid.step()).transpose(1, 2);
  return events;
}

}  // namespace sagips::env
