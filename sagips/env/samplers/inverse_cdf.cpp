#include "sagips/env/samplers/inverse_cdf.hpp"

#include <limits>
#include <span>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device_library.hpp"

namespace sagips::env {

namespace {

constexpr std::int64_t most_points_on_device = 4096;  // see sagips_cuda_grid

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
    kernels::InverseCdfTrace trace;                     ///< of the CPU
    torch::Tensor cells, event_shares, slopes, masses;  ///< of a GPU, see sagips_cuda_trace
  };

  static kernels::InverseCdfGrid as_kernel(const Grid& grid) {
    return {grid.last(), grid.step(), grid.points, grid.rule};
  }
  static sagips_cuda_grid on_gpu(const Grid& grid) {
    return {grid.last(), grid.step(), grid.points, grid.rule == CellRule::trapezoid ? 1 : 0};
  }
  static sagips_cuda_draws on_gpu(const kernels::InverseCdfShape& shape) {
    return {shape.samples, shape.observables, shape.events};
  }
  static sagips_cuda_trace on_gpu(const Kept& kept) {
    if (!kept.cells.defined()) return {};
    return {kept.cells.data_ptr<std::int32_t>(), kept.event_shares.data_ptr<float>(),
            kept.slopes.data_ptr<float>(), kept.masses.data_ptr<double>()};
  }

  static void draw(Kept& kept, const torch::Tensor& table, const torch::Tensor& u,
                   torch::Tensor& values, bool keep) {
    if (table.is_cpu())
      return kernels::draw_positions(as_kernel(kept.grid), kept.shape, numbers(table), numbers(u),
                                     writable_numbers(values), keep ? &kept.trace : nullptr);
    if (keep) {
      kept.cells = torch::empty_like(u, torch::kInt32);
      kept.event_shares = torch::empty_like(u);
      kept.slopes = torch::empty_like(u);
      kept.masses =
          torch::empty({table.size(0), table.size(1)}, table.options().dtype(torch::kFloat64));
    }
    nn::on_device(table.device(), &nn::DeviceLibrary::draw_positions, on_gpu(kept.grid),
                  on_gpu(kept.shape), table.data_ptr<float>(), u.data_ptr<float>(),
                  values.data_ptr<float>(), on_gpu(kept));
  }
  static void pull_back(const Kept& kept, const torch::Tensor& u, const torch::Tensor& gradient,
                        torch::Tensor& found) {
    if (u.is_cpu())
      return kernels::pull_back_positions(as_kernel(kept.grid), kept.shape, kept.trace, numbers(u),
                                          numbers(gradient), writable_numbers(found));
    nn::on_device(u.device(), &nn::DeviceLibrary::pull_back_positions, on_gpu(kept.grid),
                  on_gpu(kept.shape), on_gpu(kept), u.data_ptr<float>(), gradient.data_ptr<float>(),
                  found.data_ptr<float>());
  }

  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& given, const torch::Tensor& u, const Grid& grid,
                               bool keep) {
    const torch::Tensor table = given.contiguous();
    const auto kept = c10::make_intrusive<Kept>();
    kept->grid = grid;
    kept->shape = {table.size(0), table.size(1), u.size(2)};
    torch::Tensor values = torch::empty({table.size(0), u.size(2), table.size(1)}, table.options());
    draw(*kept, table, u, values, keep);
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
      found = torch::empty_like(saved[0]);
      pull_back(*kept, saved[1], gradients[0].contiguous(), found);
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
  // shape: [samples, observables, events]
  const torch::Tensor u = noise.uniform(observables) * config_.coverage;

  const bool fused = config_.fused && table.scalar_type() == torch::kFloat32 &&
                     u.scalar_type() == torch::kFloat32 &&
                     (table.is_cpu() || (nn::device_library(table.device()) != nullptr &&
                                         grid.points <= most_points_on_device));
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
