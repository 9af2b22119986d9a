#include "sagips/env/product_check.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

namespace {

// Differences of step h are wrong by about h^2 and by the rounding over h; a wrong formula is wrong
// by much more than this.
constexpr double step = 1e-4, tolerance = 1e-2;

// Irregular numbers, so that nothing cancels by symmetry.
torch::Tensor irregular(const torch::Tensor& like) {
  return torch::sin(torch::arange(1, like.numel() + 1, like.options().requires_grad(false)) *
                    12.9898)
      .view(like.sizes());
}

torch::Tensor values_at(const Stage& stage, const Events& input, const torch::Tensor& values,
                        Noise noise) {
  Events moved = input;
  moved.values = values;
  return stage(std::move(moved), noise).values;
}

struct Direction {
  std::string name;
  torch::Tensor way;
};

std::vector<Direction> directions(const torch::Tensor& values) {
  const torch::Tensor size = values.abs().mean(0, true).clamp_min(1e-3).expand_as(values);
  std::vector<Direction> all;
  if (values.dim() == 2) {
    for (std::int64_t i = 0; i < values.size(1); ++i) {
      torch::Tensor way = torch::zeros_like(values);
      way.select(1, i).copy_(size.select(1, i));
      all.push_back({core::text("input ", i), way});
    }
  } else {
    all.push_back({"the input", irregular(values) * size});
  }
  return all;
}

}  // namespace

void check_product(const Stage& stage, const Events& input, const Noise& noise) {
  const torch::Tensor values = input.values.detach().to(torch::kFloat64).requires_grad_();
  const torch::Tensor output = values_at(stage, input, values, noise);
  if (!output.requires_grad())
    throw core::ShapeError(stage.name(),
                           "claims a product with its Jacobian, and its output depends on nothing. "
                           "Return values that were computed from the input.");
  const torch::Tensor slope = irregular(output.detach());
  const torch::Tensor product = torch::autograd::grad({output}, {values}, {slope})[0];
  torch::NoGradGuard no_grad;
  const double size = (product.abs() * values.abs().clamp_min(1e-3)).sum().item<double>();
  for (const Direction& direction : directions(values)) {
    const auto projected = [&](double by) {
      return (values_at(stage, input, values + direction.way * by, noise) * slope)
          .sum()
          .item<double>();
    };
    const double difference = (projected(step) - projected(-step)) / (2 * step);
    const double stated = (product * direction.way).sum().item<double>();
    // a column that matters a thousand times less than all together is lost in the others' rounding
    const double scale = std::max({std::abs(difference), std::abs(stated), 1e-3 * size, 1e-9});
    if (!(std::abs(difference - stated) <= tolerance * scale))
      throw core::ShapeError(
          stage.name(), core::text("its product with the Jacobian is wrong: along ", direction.name,
                                   " it gives ", core::significant(stated, 4),
                                   ", differences give ", core::significant(difference, 4),
                                   " (a training would follow it astray). Correct the product."));
  }
}

}  // namespace sagips::env
