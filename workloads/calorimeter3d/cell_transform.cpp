#include "workloads/calorimeter3d/cell_transform.hpp"

#include <cmath>

namespace sagips::workloads {

void CellTransform::fields(core::FieldList& list) {
  list.add("threshold_GeV", threshold_GeV, "cells with less energy are 0",
           core::Range::at_least(0));
  list.add("unit_GeV", unit_GeV, "cells are divided by it (0.02: as in the files of the 3DGAN)",
           core::Range::positive());
  list.add("power", power, "then raised to it (0.85 in the 3DGAN)", core::Range{0, 1, true, false});
}

void CellTransform::cut(torch::Tensor& energies) const {
  if (threshold_GeV > 0) energies.masked_fill_(energies < threshold_GeV, 0);
}

// LibTorch rounds a number by its place in the array; nearly all cells are 0, so that a loop is faster, too.
void CellTransform::apply(torch::Tensor& energies) const {
  const auto unit = static_cast<float>(1 / unit_GeV), exponent = static_cast<float>(power);
  float* const cell = energies.data_ptr<float>();
  for (std::int64_t i = 0; i < energies.numel(); ++i)
    if (cell[i] > 0) cell[i] = std::pow(cell[i] * unit, exponent);
}

torch::Tensor CellTransform::undo(const torch::Tensor& images) const {
  return images.clamp_min(0).pow(1 / power) * unit_GeV;
}

}  // namespace sagips::workloads
