#include "sagips/env/densities/tabulated_density.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

TabulatedDensity::TabulatedDensity(Table table, Grid grid, std::vector<std::string> norm_names)
    : table_(std::move(table)), grid_(grid), norm_names_(std::move(norm_names)) {}

torch::Tensor TabulatedDensity::tabulate(const torch::Tensor& parameters) const {
  return table_(parameters.to(torch::kFloat64).unsqueeze(0)).squeeze(0);
}

TabulatedDensity::Sample TabulatedDensity::sample(const torch::Tensor& values,
                                                  const torch::Tensor& weights,
                                                  const std::string& origin) const {
  const torch::Tensor x = values.to(torch::kFloat64).t().contiguous();  // [observables, events]
  // float32 events may lie one rounding step outside
  const double slack = 1e-6 * (grid_.high - grid_.low);
  const torch::Tensor outside = ((x < grid_.low - slack) | (x > grid_.last() + slack)).any(0);
  if (outside.any().item<bool>()) {
    const auto row = outside.nonzero().select(1, 0)[0].item<std::int64_t>();
    throw core::DataError(
        origin, static_cast<std::size_t>(row + 1),
        core::text("the event lies outside the density's range ", grid_.low, " .. ", grid_.last(),
                   " (its likelihood is zero). Cut the data "
                   "with data.cuts or widen the sampler's grid."));
  }
  const torch::Tensor position =
      ((x - grid_.low) / grid_.step()).clamp(0, static_cast<double>(grid_.points - 1));
  const torch::Tensor cell =
      position.floor().clamp_max_(static_cast<double>(grid_.points - 2)).to(torch::kInt64);

  Sample sample;
  const torch::Tensor event_weights = weights.defined() ? weights.to(torch::kFloat64) : weights;
  sample.total =
      event_weights.defined() ? event_weights.sum().item<double>() : static_cast<double>(x.size(1));
  // left: events at the last point itself, give or take a rounding of float32: see probabilities
  const auto points = static_cast<double>(grid_.points - 1);
  const torch::Tensor mass =
      torch::where(position > points - 1e-3, torch::full_like(cell, grid_.points - 1), cell);
  if (grid_.rule == CellRule::left && !event_weights.defined()) {
    std::vector<torch::Tensor> counts;
    for (std::int64_t k = 0; k < x.size(0); ++k)
      counts.push_back(torch::bincount(mass[k], std::nullopt, grid_.points).to(torch::kFloat64));
    sample.counts = torch::stack(counts);
  } else {
    sample.cell = grid_.rule == CellRule::left ? mass : cell;
    sample.share = position - cell.to(torch::kFloat64);
    sample.weights = event_weights;
  }
  return sample;
}

torch::Tensor TabulatedDensity::probabilities(const torch::Tensor& parameters) const {
  const torch::Tensor table = tabulate(parameters);
  const torch::Tensor masses = grid_.rule == CellRule::left ? table : grid_.cells(table);
  return masses / masses.sum(-1, true);
}

torch::Tensor TabulatedDensity::negative_log_likelihood(const torch::Tensor& parameters,
                                                        const Sample& sample) const {
  if (sample.counts.defined()) {
    const torch::Tensor density = probabilities(parameters) / grid_.step();
    // a cell without events may have density zero: it adds nothing, and no slope of 0 / 0 either
    const torch::Tensor occupied =
        torch::where(sample.counts != 0, density, torch::ones_like(density));
    return -(sample.counts * torch::log(occupied)).sum();
  }
  const torch::Tensor log_density =
      [&] {
        if (grid_.rule == CellRule::left)
          return torch::log(probabilities(parameters).gather(1, sample.cell) / grid_.step());
        const torch::Tensor table = tabulate(parameters);
        return torch::log(torch::lerp(table.gather(1, sample.cell),
                                      table.gather(1, sample.cell + 1), sample.share)) -
               torch::log(grid_.integral(table)).unsqueeze(1);
      }()
          .sum(0);
  return -(sample.weights.defined() ? (log_density * sample.weights).sum() : log_density.sum());
}

torch::Tensor TabulatedDensity::norms(const torch::Tensor& parameters) const {
  return grid_.integral(tabulate(parameters))
      .narrow(0, 0, static_cast<std::int64_t>(norm_names_.size()));
}

}  // namespace sagips::env
