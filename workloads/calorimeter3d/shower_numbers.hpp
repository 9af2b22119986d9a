#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/row_tensors.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::workloads {

/// Cells above it are hits; thresholds of the spectrum of cells, powers of ten [GeV].
/// source: analysis of the calorimeter GAN, github CERN-IT-INNOVATION/3DGAN; its thresholds begin at -13
inline constexpr double hit_GeV = 3e-4;
inline constexpr int lowest_power = -6, highest_power = 0;

/// What showers are compared by, one row a shower: "x", "y" and "z" (the energy that each layer of cells
/// across that axis holds, GeV), "first" and "second" (moments of these in cells, from 0; central),
/// "sum", "thirds" (shares of the energy in the first, second and last third of the layers along z),
/// "hits" and "above" (cells above thresholds, shares of all), "hottest" (indices of that cell), "angle".
core::RowTensors shower_columns(std::int64_t x, std::int64_t y, std::int64_t z);
/// Showers without energy have moments and thirds of 0.
/// shape: energies [rows, 1, X, Y, Z] GeV -> [rows, numbers] float64
torch::Tensor shower_numbers(const torch::Tensor& energies);

/// Means, spreads, whole rows: the same of real and of made showers.
struct Sides {
  torch::Tensor real, made;
};

/// Real showers, those made for the same particles, and these.
struct ComparedShowers {
  core::RowTensors columns{};
  Sides numbers{};         ///< [rows, numbers]
  torch::Tensor energy{};  ///< [rows] GeV
  torch::Tensor angle{};   ///< [rows] rad; undefined: there is none

  std::int64_t rows() const { return energy.size(0); }
  ComparedShowers chosen(const torch::Tensor& rows) const;
  Sides of(const std::string& name) const;  ///< [rows, ...], or [rows] of single numbers
  Sides mean(const std::string& name) const;
  Sides sampling_fraction() const;  ///< [rows]
  Sides angle_error() const;        ///< measured less wanted [rows] rad
  /// What depends on each other, as columns of these names.
  Sides correlated() const;
  std::vector<std::string> correlated_names() const;
};

/// Showers of an energy or an angle.
struct ShowerBin {
  double middle, half_width;
  ComparedShowers showers;
};
/// 50, 100, 200, 300, 400 and 500 GeV, and 62, 90 and 118 degrees [rad], those with enough rows.
std::vector<ShowerBin> energy_bins(const ComparedShowers& all);
std::vector<ShowerBin> angle_bins(const ComparedShowers& all);

}  // namespace sagips::workloads
