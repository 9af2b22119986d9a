#include "sagips/env/samplers/inverse_cdf.hpp"

#include <limits>
#include <span>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

namespace {

// Ascending survival function: entry k belongs to point n - 1 - k. shape: [samples, observables,
// points]
torch::Tensor survival(const Grid& grid, const torch::Tensor& densities) {
  torch::Tensor masses;
  if (grid.rule == CellRule::left)
    masses = densities;
  else
    masses = torch::cat({grid.cells(densities), torch::zeros_like(densities.narrow(-1, 0, 1))}, -1);
  const torch::Tensor tail = masses.flip(-1).cumsum(-1);
  return tail / tail.narrow(-1, grid.points - 1, 1);
}

// shape: table [samples, observables, points], u [samples, observables, events] -> [samples,
// events, observables]
torch::Tensor positions(const Grid& grid, const torch::Tensor& table, const torch::Tensor& u) {
  const torch::Tensor tail = survival(grid, table);
  const torch::Tensor upper = torch::searchsorted(tail.detach(), u).clamp_(1, grid.points - 1);
  const torch::Tensor lower = upper - 1;
  const torch::Tensor s_lower = tail.gather(2, lower);
  const torch::Tensor s_upper = tail.gather(2, upper);
  // An empty cell has no width in S; nothing is drawn in it, but its quotient must not be 0 / 0.
  const double smallest = std::numeric_limits<float>::min();
  const torch::Tensor share = ((u - s_lower) / (s_upper - s_lower).clamp_min(smallest)).clamp(0, 1);
  // x falls by one step from entry k - 1 to entry k
  const torch::Tensor x_lower = lower.to(u.scalar_type()) * -grid.step() + grid.last();
  return (x_lower - share * grid.step()).transpose(1, 2);
}

std::span<const float> numbers(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}
std::span<float> writable_numbers(torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

/// The same through the kernels.
struct FusedPositions : torch::autograd::Function<FusedPositions> {
  /// What the way back needs; freed with the graph.
  struct Kept : torch::CustomClassHolder {
    Grid grid;
    kernels::InverseCdfShape shape;
    kernels::InverseCdfTrace trace;
  };

  static kernels::InverseCdfGrid as_kernel(const Grid& grid) {
    return {grid.last(), grid.step(), grid.points, grid.rule};
  }

  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& given, const torch::Tensor& u, const Grid& grid,
                               bool keep) {
    const torch::Tensor table = given.contiguous();
    const auto kept = c10::make_intrusive<Kept>();
    kept->grid = grid;
    kept->shape = {table.size(0), table.size(1), u.size(2)};
    torch::Tensor values = torch::empty({table.size(0), u.size(2), table.size(1)}, table.options());
    kernels::draw_positions(as_kernel(grid), kept->shape, numbers(table), numbers(u),
                            writable_numbers(values), keep ? &kept->trace : nullptr);
    if (keep) {
      context->save_for_backward({table, u});
      context->saved_data["kept"] = c10::IValue::make_capsule(kept);
    }
    return values;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto kept =
        c10::static_intrusive_pointer_cast<Kept>(context->saved_data["kept"].toCapsule());
    torch::Tensor found;
    if (torch::GradMode::is_enabled()) {  // somebody wants to differentiate the gradient
      const torch::Tensor again = positions(kept->grid, saved[0], saved[1]);
      found = torch::autograd::grad({again}, {saved[0]}, {gradients[0]}, true, true)[0];
    } else {
      const torch::Tensor gradient = gradients[0].contiguous();
      found = torch::empty_like(saved[0]);
      kernels::pull_back_positions(as_kernel(kept->grid), kept->shape, kept->trace,
                                   numbers(saved[1]), numbers(gradient), writable_numbers(found));
    }
    return {found, torch::Tensor(), torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

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

  const bool fused = config_.fused && table.is_cpu() && table.scalar_type() == torch::kFloat32 &&
                     u.scalar_type() == torch::kFloat32;
  const bool keep = table.requires_grad() && torch::GradMode::is_enabled();
  const torch::Tensor values =
      fused ? FusedPositions::apply(table, u.contiguous(), grid, keep) : positions(grid, table, u);

  Events events = std::move(densities);
  if (!config_.norm_names.empty()) {
    const torch::Tensor norms = torch::matmul(events.values, weights_.like(events.values));
    for (std::size_t k = 0; k < config_.norm_names.size(); ++k)
      events.numbers[config_.norm_names[k]] = norms.select(1, static_cast<std::int64_t>(k));
  }
  events.values = values;
  return events;
}

}  // namespace sagips::env
