#pragma once
#include <cstdint>

#include "sagips/data/torch.hpp"

namespace sagips::optim {

/// A smooth function known at some points: mean and deviation everywhere else.
///
/// Matern kernel of order 5/2 with a length for each dimension.
///
/// source: Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), algorithm 2.1,
///         eqs. (4.17), (5.8)
class GaussianProcess {
 public:
  /// The most probable lengths, variance and noise under the marginal likelihood and weak priors:
  /// lengths around half the unit cube, noise around 1 % of the deviation. The climb begins there and
  /// ends at a local maximum. shape: as below -> ln length of each dimension, ln deviation, ln noise
  /// deviation, [dimensions + 2]
  /// cost: some thirty factorisations of an [n, n] matrix for n points
  static torch::Tensor most_probable(const torch::Tensor& points, const torch::Tensor& values);

  /// shape: points [n, dimensions] in the unit cube; values [n] of about mean 0 and deviation 1;
  ///        all float64
  GaussianProcess(torch::Tensor points, torch::Tensor values, torch::Tensor parameters);

  struct Prediction {
    torch::Tensor mean, deviation;  ///< of the function, without noise. shape: [m]
  };
  /// Differentiable by the points. shape: [m, dimensions] -> [m] twice
  Prediction predict(const torch::Tensor& points) const;
  /// The same process knowing some more points, by its own mean there.
  GaussianProcess believing(const torch::Tensor& points) const;

 private:
  GaussianProcess() = default;
  void condition();

  torch::Tensor points_, values_;
  torch::Tensor parameters_;
  torch::Tensor factor_, weights_;  ///< Cholesky factor L of K, K^-1 values
};

}  // namespace sagips::optim
