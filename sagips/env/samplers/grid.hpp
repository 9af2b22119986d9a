#pragma once
#include <cstdint>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/kernels/inverse_cdf.hpp"

namespace sagips::env {

/// How the mass of a cell follows from the density at its two ends. left: the authors' recipe,
/// first order in the step; trapezoid: second order.
using CellRule = kernels::MassRule;

/// Equidistant points on which a density is tabulated, and the cells between them.
///
/// left:      points at low + i (high - low) / points, the upper end is not one of them (authors'
///            recipe).
/// trapezoid: points from low to high, both included.
struct Grid {
  double low = 0, high = 1;
  std::int64_t points = 1000;
  CellRule rule = CellRule::trapezoid;

  void fields(core::FieldList& list);

  double step() const;
  /// Position of the last point; events lie between low and this.
  double last() const;
  /// shape: [points]
  torch::Tensor positions(const torch::TensorOptions& options) const;
  /// Unnormalised mass of each cell times 1 / step.
  /// shape: [..., points] -> [..., points - 1]
  torch::Tensor cells(const torch::Tensor& density) const;
  /// What each point counts in an integral: one product with it is one.
  /// shape: [points]
  torch::Tensor weights(const torch::TensorOptions& options) const;
  /// Integral of a tabulated density.
  /// shape: [..., points] -> [...]
  torch::Tensor integral(const torch::Tensor& density) const;
};

}  // namespace sagips::env
