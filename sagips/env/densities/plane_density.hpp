#pragma once
#include <functional>
#include <string>

#include "sagips/data/torch.hpp"
#include "sagips/env/densities/density.hpp"
#include "sagips/env/samplers/plane.hpp"

namespace sagips::env {

/// The likelihood of two observables from a density tabulated on a plane, bilinear between the
/// points: what Rosenblatt draws from. Everything is float64.
class PlaneDensity {
 public:
  /// parameters [samples, parameters], physical -> densities [samples, x points, y points], not
  /// normalised
  using Table = std::function<torch::Tensor(torch::Tensor)>;
  using Sample = DensitySample;

  PlaneDensity(Table table, Plane plane) : table_(std::move(table)), plane_(std::move(plane)) {}

  /// shape: values [events, 2]; weights [events] or undefined.
  /// throws: DataError naming the first event outside the plane
  Sample sample(const torch::Tensor& values, const torch::Tensor& weights,
                const std::string& origin) const;
  /// shape: parameters [parameters] -> []
  torch::Tensor negative_log_likelihood(const torch::Tensor& parameters,
                                        const Sample& sample) const;
  /// The probabilities of all cells, in one row.
  /// shape: parameters [parameters] -> [1, (x points - 1) * (y points - 1)]
  torch::Tensor probabilities(const torch::Tensor& parameters) const;

 private:
  torch::Tensor tabulate(const torch::Tensor& parameters) const;

  Table table_;
  Plane plane_;
};

}  // namespace sagips::env
