#pragma once
#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::workloads {

/// What a network sees of a shower's cells: energies below a threshold are 0, the others are divided by a unit
/// and raised to a power, which brings values over seven orders of magnitude closer together.
/// source: facts of the calorimeter GAN, github CERN-IT-INNOVATION/3DGAN: energies times 50, power 0.85
struct CellTransform {
  double threshold_GeV = 0;
  double unit_GeV = 0.02;
  double power = 0.85;

  void fields(core::FieldList& list);
  /// In place, as energies of files need no second array. shape: energies [...] GeV, no negative ones
  void cut(torch::Tensor& energies) const;
  /// Energies that have been cut, as images, in place. A cell's value depends on its energy alone, to the last
  /// bit. energies: float32 on the CPU, without gaps
  void apply(torch::Tensor& energies) const;
  /// Differentiable. A cell below 0, which no shower has, is taken as 0.
  /// shape: images [...] -> energies [...] GeV
  torch::Tensor undo(const torch::Tensor& images) const;
};

}  // namespace sagips::workloads
