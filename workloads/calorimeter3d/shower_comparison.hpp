#pragma once
#include <map>
#include <string>
#include <vector>

#include "sagips/problem/comparison.hpp"
#include "workloads/calorimeter3d/cell_transform.hpp"
#include "workloads/calorimeter3d/shower_numbers.hpp"

namespace sagips::workloads {

/// Whether made showers are right: profiles, moments, sums, spectra of cells and responses of real and made
/// ones, all together and in bins of energy and angle. docs/physics/calorimeter3d.md defines each number.
/// source: the analysis of the calorimeter GAN, github CERN-IT-INNOVATION/3DGAN; separation powers: the
/// CaloChallenge, github CaloChallenge/homepage
class ShowerComparison final : public problem::ExampleComparison {
 public:
  /// targets: "energy" and, where showers have one, "angle", as ShowerSource has them
  ShowerComparison(const CellTransform& transform, const core::RowTensors& targets)
      : transform_(transform), targets_(targets) {}

  /// shapes: inputs of `real` and `made` [rows, 1, X, Y, Z], as the transform makes them
  void add(const data::Examples& real, const torch::Tensor& made) override;
  std::map<std::string, double> numbers() const override;
  std::vector<problem::ComparedCurve> curves() const override;
  std::vector<problem::ComparedMatrix> matrices() const override;
  Features features() const override;

 private:
  ComparedShowers together() const;

  CellTransform transform_;
  core::RowTensors targets_, columns_{};
  bool is_finite_ = true;                                  ///< all that was made
  std::vector<torch::Tensor> real_{}, made_{}, wanted_{};  ///< of each piece
};

}  // namespace sagips::workloads
