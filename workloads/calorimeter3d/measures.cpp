#include "workloads/calorimeter3d/measures.hpp"

#include <array>
#include <numbers>

namespace sagips::workloads {

namespace {

// The middles of so many cells, in cells.
torch::Tensor middles(std::int64_t count, const torch::Tensor& like) {
  return torch::arange(count, like.options().requires_grad(false)) + 0.5;
}

/// Energy and its first moments in each layer; all else that the angle needs follows from these.
struct Layers {
  torch::Tensor energy, along_x, along_y;  ///< [rows, Z]
};

// One product with three rows of coordinates, which reads the cells once.
Layers layers_of(const torch::Tensor& energies) {
  const std::int64_t x = energies.size(2), y = energies.size(3), z = energies.size(4);
  const torch::Tensor across = torch::ones({x, y}, energies.options().requires_grad(false));
  const torch::Tensor coordinates =
      torch::stack({across, across * middles(x, energies).unsqueeze(1),
                    across * middles(y, energies).unsqueeze(0)})
          .reshape({1, 3, x * y});
  const torch::Tensor sums =
      torch::matmul(coordinates, energies.reshape({energies.size(0), x * y, z}));
  return {sums.select(1, 0), sums.select(1, 1), sums.select(1, 2)};
}

// Where `use` is false the quotient is 0 and has no gradient.
torch::Tensor ratio(const torch::Tensor& over, const torch::Tensor& under,
                    const torch::Tensor& use) {
  return torch::where(use, over, torch::zeros_like(over)) /
         torch::where(use, under, torch::ones_like(under));
}

constexpr double least_energy = 1e-30;  // a slope by less would be no number in single precision
constexpr double least_square = 1e-7;   // of a distance to the barycentre, in cells

}  // namespace

torch::Tensor energy_sum(const torch::Tensor& energies) { return energies.sum({1, 2, 3, 4}); }

torch::Tensor shower_angle(const torch::Tensor& energies) {
  const Layers layers = layers_of(energies);
  const torch::Tensor z = middles(energies.size(4), energies).unsqueeze(0);
  const torch::Tensor has_energy = layers.energy > least_energy;
  const torch::Tensor total = layers.energy.sum(1, /*keepdim=*/true);
  const torch::Tensor is_there = has_energy.any(1, /*keepdim=*/true);
  const auto centre = [&](const torch::Tensor& moment) {
    return ratio(moment.sum(1, /*keepdim=*/true), total, is_there);
  };
  const torch::Tensor x0 = centre(layers.along_x), y0 = centre(layers.along_y);
  const torch::Tensor z0 = centre(layers.energy * z);
  const torch::Tensor x = ratio(layers.along_x, layers.energy, has_energy);
  const torch::Tensor y = ratio(layers.along_y, layers.energy, has_energy);
  const torch::Tensor away = ((x - x0).square() + (z - z0).square()).clamp_min(least_square).sqrt();
  const torch::Tensor slope = (y - y0) / away * torch::where(z < z0, -1.0, 1.0).to(away.dtype());
  const torch::Tensor weights = has_energy.to(z.dtype()) * z;
  const torch::Tensor angles = std::numbers::pi / 2 - slope.atan();
  const torch::Tensor mean = ratio((angles * weights).sum(1), weights.sum(1), is_there.squeeze(1));
  return torch::where(is_there.squeeze(1), mean, torch::full_like(mean, angle_of_nothing));
}

torch::Tensor bin_counts(const torch::Tensor& energies, double unit) {
  constexpr std::array edges{0.05, 0.03, 0.02, 0.0125, 0.008, 0.003, 0.0};
  const torch::Tensor cells = energies.detach().flatten(1);
  torch::Tensor above = torch::zeros({cells.size(0)}, torch::kInt64);
  std::vector<torch::Tensor> counts;
  for (const double edge : edges) {
    const torch::Tensor now = (cells > edge * unit).sum(1);
    counts.push_back(now - above);
    above = now;
  }
  counts.push_back(cells.size(1) - above);
  return torch::stack(counts, 1).clamp_min(1).to(energies.dtype());
}

}  // namespace sagips::workloads
