#include "workloads/calorimeter3d/cell_transform.hpp"

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

void CellTransform::apply(torch::Tensor& energies) const { energies.div_(unit_GeV).pow_(power); }

torch::Tensor CellTransform::undo(const torch::Tensor& images) const {
  return images.clamp_min(0).pow(1 / power) * unit_GeV;
}

}  // namespace sagips::workloads
