#pragma once
#include <string>

#include "sagips/data/torch.hpp"
#include "sagips/env/constant.hpp"
#include "sagips/env/samplers/axis.hpp"

namespace sagips::env {

/// The points on which the density of two observables x and y is tabulated. Between them the
/// density is bilinear, so that integrals by the trapezoid rule are exact.
class Plane {
 public:
  /// throws: ConfigError for an axis that cannot be used
  Plane(Axis x, Axis y);

  const Axis& x() const { return x_; }
  const Axis& y() const { return y_; }
  /// shape: [points]
  const Constant& x_positions() const { return x_positions_; }
  const Constant& y_positions() const { return y_positions_; }
  /// shape: [points - 1]
  const Constant& x_steps() const { return x_steps_; }
  const Constant& y_steps() const { return y_steps_; }

  /// What each x point of a density integrates to along y, and the part of it above each y point.
  /// shape: [..., x points, y points] -> the same; the first y point holds the whole
  torch::Tensor above(const torch::Tensor& density) const;
  /// The same along x, of a density of x alone.
  /// shape: [..., x points] -> the same
  torch::Tensor beyond(const torch::Tensor& density) const;
  /// Mass of each cell.
  /// shape: [..., x points, y points] -> [..., x points - 1, y points - 1]
  torch::Tensor cells(const torch::Tensor& density) const;
  /// throws: ShapeError naming the stage when a table [samples, x points, y points] does not fit
  void check_table(const std::string& stage, const torch::Tensor& table) const;

 private:
  Axis x_, y_;
  Constant x_positions_, y_positions_, x_steps_, y_steps_;
};

}  // namespace sagips::env
