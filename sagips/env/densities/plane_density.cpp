#include "sagips/env/densities/plane_density.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

namespace {

/// Cell and share of each event along one axis.
struct Place {
  torch::Tensor cell, share;
};

Place place_of(const torch::Tensor& values, const torch::Tensor& positions) {
  const std::int64_t last_cell = positions.size(0) - 2;
  const torch::Tensor cell = (torch::searchsorted(positions, values, /*out_int32=*/false,
                                                  /*right=*/true) -
                              1)
                                 .clamp_(0, last_cell);
  const torch::Tensor low = positions.index({cell}), high = positions.index({cell + 1});
  return {cell, ((values - low) / (high - low)).clamp_(0, 1)};
}

// float32 events may lie one rounding step outside
torch::Tensor outside(const torch::Tensor& values, const Axis& axis) {
  const double slack = 1e-6 * (axis.high - axis.low);
  return (values < axis.low - slack) | (values > axis.high + slack);
}

}  // namespace

torch::Tensor PlaneDensity::tabulate(const torch::Tensor& parameters) const {
  return table_(parameters.to(torch::kFloat64).unsqueeze(0)).squeeze(0);
}

// Kept are the four corners of each event's cell in the flat table and what each counts.
PlaneDensity::Sample PlaneDensity::sample(const torch::Tensor& values, const torch::Tensor& weights,
                                          const std::string& origin) const {
  const torch::Tensor x = values.select(1, 0).to(torch::kFloat64).contiguous();
  const torch::Tensor y = values.select(1, 1).to(torch::kFloat64).contiguous();
  const torch::Tensor lost = outside(x, plane_.x()) | outside(y, plane_.y());
  if (lost.any().item<bool>()) {
    const auto row = lost.nonzero().select(1, 0)[0].item<std::int64_t>();
    throw core::DataError(
        origin, static_cast<std::size_t>(row + 1),
        core::text("the event lies outside the density's plane ", plane_.x().low, " .. ",
                   plane_.x().high, " by ", plane_.y().low, " .. ", plane_.y().high,
                   " (its likelihood is zero). Cut the data with data.cuts or widen the plane."));
  }
  const Place across = place_of(x, plane_.x_positions().like(x));
  const Place up = place_of(y, plane_.y_positions().like(y));
  const std::int64_t rows = plane_.y().points;
  const torch::Tensor corner = across.cell * rows + up.cell;
  Sample sample;
  sample.cell = torch::stack({corner, corner + 1, corner + rows, corner + rows + 1});
  sample.share = torch::stack({(1 - across.share) * (1 - up.share), (1 - across.share) * up.share,
                               across.share * (1 - up.share), across.share * up.share});
  if (weights.defined()) sample.weights = weights.to(torch::kFloat64);
  sample.total =
      weights.defined() ? sample.weights.sum().item<double>() : static_cast<double>(x.size(0));
  return sample;
}

torch::Tensor PlaneDensity::negative_log_likelihood(const torch::Tensor& parameters,
                                                    const Sample& sample) const {
  const torch::Tensor table = tabulate(parameters);
  const torch::Tensor corners =
      table.flatten().index_select(0, sample.cell.flatten()).view_as(sample.share);
  const torch::Tensor log_density =
      torch::log((corners * sample.share).sum(0)) - torch::log(plane_.cells(table).sum());
  return -(sample.weights.defined() ? (log_density * sample.weights).sum() : log_density.sum());
}

torch::Tensor PlaneDensity::probabilities(const torch::Tensor& parameters) const {
  const torch::Tensor cells = plane_.cells(tabulate(parameters)).flatten().unsqueeze(0);
  return cells / cells.sum();
}

}  // namespace sagips::env
