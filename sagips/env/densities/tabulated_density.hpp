#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/env/densities/density.hpp"
#include "sagips/env/samplers/grid.hpp"

namespace sagips::env {

/// The likelihood of a pipeline that draws independent observables from tabulated densities: the
/// sampler's own density, cell rule included, so that fit and toy data mean the same thing.
///
/// left: constant in each cell, and the last point has a mass of its own, since the sampler puts there
/// what would lie beyond it. Small where the density vanishes at the end; an error of a parameter that
/// says how it vanishes, where it does not. trapezoid: linear between the points. Everything is float64.
class TabulatedDensity {
 public:
  /// parameters [samples, parameters], physical -> densities [samples, observables, points], not
  /// normalised
  using Table = std::function<torch::Tensor(torch::Tensor)>;

  /// norm_names: as in InverseCdf; the integrals named there are known exactly and constrain a fit.
  TabulatedDensity(Table table, Grid grid, std::vector<std::string> norm_names);

  using Sample = DensitySample;

  /// shape: values [events, observables]; weights [events] or undefined.
  /// throws: DataError naming the first event outside the table
  Sample sample(const torch::Tensor& values, const torch::Tensor& weights,
                const std::string& origin) const;

  /// -ln L for the events of a sample.
  /// shape: parameters [parameters] -> []
  torch::Tensor negative_log_likelihood(const torch::Tensor& parameters,
                                        const Sample& sample) const;

  /// Probability of each cell; left: and of the last point.
  /// shape: parameters [parameters] -> [observables, points - 1], left: [observables, points]
  torch::Tensor probabilities(const torch::Tensor& parameters) const;

  /// The named integrals.
  /// shape: parameters [parameters] -> [norm_names]
  torch::Tensor norms(const torch::Tensor& parameters) const;
  const std::vector<std::string>& norm_names() const { return norm_names_; }
  const Grid& grid() const { return grid_; }

 private:
  torch::Tensor tabulate(const torch::Tensor& parameters) const;

  Table table_;
  Grid grid_;
  std::vector<std::string> norm_names_;
};

}  // namespace sagips::env
