#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sagips/problem/learning.hpp"
#include "workloads/calorimeter3d/cell_transform.hpp"
#include "workloads/calorimeter3d/shower_model.hpp"

namespace sagips::workloads {

/// Energies of particles are given to networks in this unit.
inline constexpr double energy_unit_GeV = 100;

/// Showers in a calorimeter, drawn or of files, for networks that learn to make them. Inputs are the cells,
/// as the transform makes them [rows, 1, X, Y, Z]; targets are named: "energy" of the particle in units of
/// 100 GeV, "angle" in rad as it is measured from the cells (where files have it), "sum" of the cells that have
/// passed the threshold in GeV, each [rows].
class ShowerSource final : public problem::ExampleSource {
 public:
  void fields(core::FieldList& list) override;
  data::ExampleSets load(std::uint64_t seed, const data::Reading& reading) const override;
  bool is_drawn() const override { return kind_ == Kind::drawn; }
  data::ExampleRowsPtr inputs_of(const data::InputFiles& files,
                                 const data::Reading& reading) const override;

  const CellTransform& transform() const { return transform_; }

 private:
  enum class Kind { drawn };

  Kind kind_ = Kind::drawn;
  std::int64_t rows_ = 20000, validation_rows_ = 2000;
  ShowerConfig showers_;
  CellTransform transform_;
};

}  // namespace sagips::workloads
