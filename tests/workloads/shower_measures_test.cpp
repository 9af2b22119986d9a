#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "workloads/calorimeter3d/cell_transform.hpp"
#include "workloads/calorimeter3d/measures.hpp"

namespace sagips::workloads {
namespace {

// Energies over many orders of magnitude, half of them 0. shape: [rows, 1, 6, 7, 5] float64
torch::Tensor random_showers(std::int64_t rows) {
  const auto random = torch::make_generator<at::CPUGeneratorImpl>(17);
  const torch::Tensor logs = torch::rand({rows, 1, 6, 7, 5}, random, torch::kFloat64);
  const torch::Tensor is_hit = torch::rand({rows, 1, 6, 7, 5}, random, torch::kFloat64) < 0.5;
  return torch::pow(10, 6 * logs - 6) * is_hit;
}

// The definition, loop by loop, of one shower.
double angle_by_loops(const torch::Tensor& shower) {
  const auto cells = shower.accessor<double, 4>();
  double sum = 0, x0 = 0, y0 = 0, z0 = 0, weights = 0, angles = 0;
  const auto each = [&](std::int64_t z, const auto& use) {
    for (std::int64_t i = 0; i < cells.size(1); ++i)
      for (std::int64_t j = 0; j < cells.size(2); ++j)
        use(cells[0][i][j][z], static_cast<double>(i) + 0.5, static_cast<double>(j) + 0.5);
  };
  for (std::int64_t k = 0; k < cells.size(3); ++k)
    each(k, [&](double e, double x, double y) {
      sum += e;
      x0 += e * x;
      y0 += e * y;
      z0 += e * (static_cast<double>(k) + 0.5);
    });
  if (sum == 0) return 100;
  x0 /= sum, y0 /= sum, z0 /= sum;
  for (std::int64_t k = 0; k < cells.size(3); ++k) {
    double layer = 0, xm = 0, ym = 0;
    const double z = static_cast<double>(k) + 0.5;
    each(k, [&](double e, double x, double y) { layer += e, xm += e * x, ym += e * y; });
    if (layer == 0) continue;
    xm /= layer, ym /= layer;
    const double away = std::sqrt(std::max((xm - x0) * (xm - x0) + (z - z0) * (z - z0), 1e-7));
    const double slope = (ym - y0) / away * (z < z0 ? -1 : 1);
    angles += z * (std::numbers::pi / 2 - std::atan(slope));
    weights += z;
  }
  return angles / weights;
}

TEST(ShowerMeasures, AngleIsThatOfLoops) {
  torch::Tensor showers = random_showers(20);
  showers[3].zero_();                 // without energy
  showers[4].slice(3, 1, 4).zero_();  // layers without energy
  showers[5].slice(3, 0, 4).zero_();  // a single layer with energy
  const torch::Tensor angles = shower_angle(showers);
  for (std::int64_t i = 0; i < showers.size(0); ++i)
    EXPECT_NEAR(angles[i].item<double>(), angle_by_loops(showers[i]), 1e-12) << i;
  EXPECT_EQ(angles[3].item<double>(), angle_of_nothing);
}

// A straight line through the middle of the block. Cells are pixels, so each layer shares its energy between
// the two nearest in a way that keeps its barycentre.
TEST(ShowerMeasures, AngleOfALineIsTheOneThatWasPutIn) {
  for (const double degrees : {60., 75., 90., 101., 120.}) {
    const double angle = degrees * std::numbers::pi / 180;
    torch::Tensor shower = torch::zeros({1, 1, 5, 51, 25}, torch::kFloat64);
    for (std::int64_t k = 0; k < 25; ++k) {
      const double y = 25 + (static_cast<double>(k) - 12) / std::tan(angle);
      const auto cell = static_cast<std::int64_t>(std::floor(y));
      const double next = y - static_cast<double>(cell);
      const double energy =
          1 + std::min<double>(static_cast<double>(k), 24. - static_cast<double>(k));
      shower[0][0][2][cell][k] = energy * (1 - next);
      shower[0][0][2][cell + 1][k] = energy * next;
    }
    // The layer in the middle is at the barycentre itself and says 90 degrees: it counts 12.5 of 312.5.
    const double expected = angle + 12.5 / 312.5 * (std::numbers::pi / 2 - angle);
    EXPECT_NEAR(shower_angle(shower).item<double>(), expected, 1e-6) << degrees;
  }
}

TEST(ShowerMeasures, GradientOfTheAngleIsThatOfDifferences) {
  const torch::Tensor showers = random_showers(3).clamp_min(1e-3).requires_grad_();
  shower_angle(showers).sum().backward();
  const torch::Tensor cells = showers.detach().clone();
  double* const cell = cells.data_ptr<double>();
  for (std::int64_t i = 0; i < cells.numel(); i += 7) {
    const double before = cell[i], step = 1e-4 * before;
    const auto at = [&](double value) {
      cell[i] = value;
      return shower_angle(cells).sum().item<double>();
    };
    const double slope = (at(before + step) - at(before - step)) / (2 * step);
    cell[i] = before;
    const double gradient = showers.grad().flatten()[i].item<double>();
    EXPECT_NEAR(gradient, slope, 1e-5 * (1 + std::abs(slope))) << i;
  }
}

TEST(ShowerMeasures, GradientsAreFiniteWhereNothingIs) {
  torch::Tensor images = random_showers(5).to(torch::kFloat32);
  images[0].zero_();
  images[1].slice(3, 0, 4).zero_();
  images[2].mul_(1e-30);
  images[3].slice(3, 2, 3).mul_(1e-36);
  images[4].zero_()[0][2][3][1] = 1;
  images.requires_grad_();
  const torch::Tensor energies = CellTransform().undo(images);
  (shower_angle(energies).sum() + energy_sum(energies).sum()).backward();
  EXPECT_TRUE(images.grad().isfinite().all().item<bool>());
}

TEST(ShowerMeasures, BinsCountEveryCellOnce) {
  constexpr double unit = 0.02;
  torch::Tensor showers = random_showers(2) * unit;
  showers[1].zero_();
  const torch::Tensor counts = bin_counts(showers, unit);
  ASSERT_EQ(counts.sizes(), (std::vector<std::int64_t>{2, bin_columns}));
  const double edges[] = {0.05, 0.03, 0.02, 0.0125, 0.008, 0.003, 0};
  std::vector<std::int64_t> expected(bin_columns);
  const torch::Tensor first = showers[0].contiguous();
  for (std::int64_t i = 0; i < first.numel(); ++i) {
    const double energy = first.data_ptr<double>()[i] / unit;
    std::size_t bin = 0;
    while (bin < 7 && energy <= edges[bin]) ++bin;
    ++expected[bin];
  }
  for (std::int64_t i = 0; i < bin_columns; ++i) {
    const auto known = static_cast<double>(expected[static_cast<std::size_t>(i)]);
    EXPECT_GT(known, 0);
    EXPECT_EQ(counts[0][i].item<double>(), known) << i;
    EXPECT_EQ(counts[1][i].item<double>(), i == 7 ? 210 : 1) << i;
  }
}

TEST(CellTransform, IsUndone) {
  const torch::Tensor energies = random_showers(2).to(torch::kFloat32);
  const CellTransform transform{.threshold_GeV = 1e-3, .unit_GeV = 0.02, .power = 0.85};
  torch::Tensor images = energies.clone();
  transform.cut(images);
  transform.apply(images);
  const torch::Tensor back = transform.undo(images);
  const torch::Tensor kept = torch::where(energies < 1e-3, torch::zeros_like(energies), energies);
  EXPECT_TRUE(torch::allclose(back, kept, 1e-5, 0));
  EXPECT_NEAR(images.max().item<double>(), std::pow(kept.max().item<double>() / 0.02, 0.85), 1e-4);
  EXPECT_LT(energy_sum(kept)[0].item<double>(), energy_sum(energies)[0].item<double>());
}

}  // namespace
}  // namespace sagips::workloads
