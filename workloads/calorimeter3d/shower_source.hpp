#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sagips/problem/learning.hpp"
#include "workloads/calorimeter3d/cell_transform.hpp"
#include "workloads/calorimeter3d/shower_files.hpp"
#include "workloads/calorimeter3d/shower_model.hpp"

namespace sagips::workloads {

/// Showers in a calorimeter, drawn or of files, for networks that learn to make them. Inputs are the cells,
/// as the transform makes them [rows, 1, X, Y, Z]; targets are named: "energy" of the particle in units of
/// 100 GeV, "angle" in rad as it is measured from the cells (where files have it), "sum" of the cells that have
/// passed the threshold in GeV, each [rows].
class ShowerSource final : public problem::ExampleSource {
 public:
  void fields(core::FieldList& list) override;
  data::ExampleSets load(std::uint64_t seed, const data::Reading& reading) const override;
  bool is_drawn() const override { return kind_ == Kind::drawn; }
  std::map<std::string, Measure> measures() const override;
  /// Of targets with an energy.
  std::unique_ptr<problem::ExampleComparison> comparison(
      const core::RowTensors& targets) const override;
  /// Sums of the energies over each axis.
  std::vector<problem::ExampleView> views(const torch::Tensor& inputs) const override;
  std::map<std::string, Quantity> quantities() const override;
  std::optional<FileForm> file_form() const override;
  data::ExampleRowsPtr inputs_of(const data::InputFiles& files,
                                 const data::Reading& reading) const override;

  const CellTransform& transform() const { return transform_; }

 private:
  enum class Kind { drawn, clic, calo_challenge };
  data::ExampleSets of_files(const std::vector<std::string>& files,
                             const data::Reading& reading) const;

  Kind kind_ = Kind::drawn;
  std::int64_t rows_ = 20000, validation_rows_ = 2000;
  ShowerConfig showers_;
  CellTransform transform_;
  std::vector<std::string> files_, validation_files_;
  data::ExampleFiles limits_;
};

}  // namespace sagips::workloads
