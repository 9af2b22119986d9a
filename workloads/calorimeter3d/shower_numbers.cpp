#include "workloads/calorimeter3d/shower_numbers.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "workloads/calorimeter3d/measures.hpp"

namespace sagips::workloads {

namespace {

constexpr double no_energy = 1e-30;  // GeV
// Of the 2,000 rows of an evaluation, uniform to 500 GeV, a bin has 200 (at its end 100); of an angle 380.
constexpr std::array energies{50.0, 100.0, 200.0, 300.0, 400.0, 500.0};
constexpr std::array angles{62.0, 90.0, 118.0};
constexpr double half_energy = 25, half_angle = 0.1;
constexpr std::int64_t least_rows = 10;

// shape: profile and share of the energy [rows, cells] -> first and second moment [rows]
std::pair<torch::Tensor, torch::Tensor> moments(const torch::Tensor& share) {
  const torch::Tensor place = torch::arange(share.size(1), torch::kFloat64);
  const torch::Tensor first = (share * place).sum(1);
  const torch::Tensor away = place.unsqueeze(0) - first.unsqueeze(1);
  return {first, (share * away.square()).sum(1)};
}

torch::Tensor hottest_cell(const torch::Tensor& cells) {
  const torch::Tensor place = cells.flatten(1).argmax(1);
  const std::int64_t y = cells.size(2), z = cells.size(3);
  const auto over = [&](std::int64_t divisor) { return place.div(divisor, "floor"); };
  return torch::stack({over(y * z), over(z).remainder(y), place.remainder(z)}, 1);
}

// A comparison of several thresholds reads the cells once for each: they are few, and it is no training step.
torch::Tensor shares_above(const torch::Tensor& cells) {
  const torch::Tensor flat = cells.flatten(1);
  std::vector<torch::Tensor> shares = {(flat > hit_GeV).sum(1)};
  for (int power = lowest_power; power <= highest_power; ++power)
    shares.push_back((flat > std::pow(10, power)).sum(1));
  return torch::stack(shares, 1).to(torch::kFloat64) / flat.size(1);
}

std::vector<ShowerBin> bins(const ComparedShowers& all, const torch::Tensor& values,
                            std::span<const double> middles, double unit, double half_width) {
  std::vector<ShowerBin> found;
  for (const double middle : middles) {
    const torch::Tensor rows = ((values - middle * unit).abs() <= half_width).nonzero().flatten();
    if (rows.size(0) >= least_rows) found.push_back({middle * unit, half_width, all.chosen(rows)});
  }
  return found;
}

}  // namespace

core::RowTensors shower_columns(std::int64_t x, std::int64_t y, std::int64_t z) {
  core::RowTensors columns;
  for (const auto& [name, count] : std::vector<std::pair<std::string, std::int64_t>>{
           {"x", x},
           {"y", y},
           {"z", z},
           {"first", 3},
           {"second", 3},
           {"sum", 1},
           {"thirds", 3},
           {"hits", 1},
           {"above", highest_power - lowest_power + 1},
           {"hottest", 3},
           {"angle", 1}})
    columns.add(name, count == 1 ? std::vector<std::int64_t>{} : std::vector{count});
  return columns;
}

torch::Tensor shower_numbers(const torch::Tensor& energies) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor cells = energies.squeeze(1);
  const torch::Tensor across = cells.sum({3}, /*keepdim=*/false, torch::kFloat64);
  const std::vector<torch::Tensor> profiles = {
      across.sum(2), across.sum(1), cells.sum({1, 2}, /*keepdim=*/false, torch::kFloat64)};
  const torch::Tensor sum = across.sum({1, 2}).unsqueeze(1);
  std::vector<torch::Tensor> numbers = profiles, first, second;
  for (const torch::Tensor& profile : profiles) {
    const auto [mean, width] = moments(profile / sum.clamp_min(no_energy));
    first.push_back(mean);
    second.push_back(width);
  }
  numbers.push_back(torch::stack(first, 1));
  numbers.push_back(torch::stack(second, 1));
  numbers.push_back(sum);
  const torch::Tensor share = profiles[2] / sum.clamp_min(no_energy);
  const std::int64_t third = share.size(1) / 3;
  numbers.push_back(
      torch::stack({share.slice(1, 0, third).sum(1), share.slice(1, third, 2 * third).sum(1),
                    share.slice(1, 2 * third).sum(1)},
                   1));
  numbers.push_back(shares_above(cells));
  numbers.push_back(hottest_cell(cells).to(torch::kFloat64));
  numbers.push_back(shower_angle(energies).to(torch::kFloat64).unsqueeze(1));
  return torch::cat(numbers, 1);
}

ComparedShowers ComparedShowers::chosen(const torch::Tensor& rows) const {
  return {columns,
          {numbers.real.index_select(0, rows), numbers.made.index_select(0, rows)},
          energy.index_select(0, rows),
          angle.defined() ? angle.index_select(0, rows) : angle};
}

Sides ComparedShowers::of(const std::string& name) const {
  const core::RowTensor& column = columns.at(name);
  return {column.of(numbers.real), column.of(numbers.made)};
}

Sides ComparedShowers::mean(const std::string& name) const {
  const Sides own = of(name);
  return {own.real.mean(0), own.made.mean(0)};
}

Sides ComparedShowers::sampling_fraction() const {
  const Sides sum = of("sum");
  return {sum.real / energy, sum.made / energy};
}

Sides ComparedShowers::angle_error() const {
  const Sides measured = of("angle");
  return {measured.real - angle, measured.made - angle};
}

Sides ComparedShowers::correlated() const {
  const auto columns_of = [&](const auto& side) {
    std::vector<torch::Tensor> parts = {energy.unsqueeze(1)};
    if (angle.defined()) parts.push_back((angle - std::numbers::pi / 2).abs().unsqueeze(1));
    for (const char* name : {"sum", "hits"}) parts.push_back(side(of(name)).unsqueeze(1));
    for (const char* name : {"thirds", "first", "second"}) parts.push_back(side(of(name)));
    return torch::cat(parts, 1);
  };
  return {columns_of([](const Sides& sides) { return sides.real; }),
          columns_of([](const Sides& sides) { return sides.made; })};
}

std::vector<std::string> ComparedShowers::correlated_names() const {
  std::vector<std::string> names = {"energy"};
  if (angle.defined()) names.push_back("|θ - π/2|");
  for (const char* name : {"sum", "hits", "R1", "R2", "R3", "x", "y", "z", "x²", "y²", "z²"})
    names.emplace_back(name);
  return names;
}

std::vector<ShowerBin> energy_bins(const ComparedShowers& all) {
  return bins(all, all.energy, energies, 1, half_energy);
}

std::vector<ShowerBin> angle_bins(const ComparedShowers& all) {
  if (!all.angle.defined()) return {};
  return bins(all, all.angle, angles, std::numbers::pi / 180, half_angle);
}

}  // namespace sagips::workloads
