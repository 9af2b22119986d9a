#pragma once
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/env/parameter.hpp"

namespace sagips::optim {

/// A point with errors, as users read it: all parameters in physical units; a fixed one has error 0.
struct Estimate {
  std::vector<double> values, errors;
  torch::Tensor covariance;  ///< [free, free], physical
  std::vector<std::string>
      at_limit;  ///< parameters within 2 errors of an end of their range: their
                 ///< errors are not to be trusted
};

/// shapes: theta [free], covariance [free, free], logit
Estimate estimate_at(const env::ParameterSet& parameters, const torch::Tensor& theta,
                     const torch::Tensor& covariance);

/// The elements of a float64 tensor, in order.
std::vector<double> numbers_of(const torch::Tensor& tensor);

/// A copy that can be differentiated by, float64.
torch::Tensor differentiable(const torch::Tensor& theta);

/// d vector / d variable, a row for each element; zeros where nothing depends on the variable.
/// shapes: vector [n] in a graph of variable [m] -> [n, m]
torch::Tensor jacobian_of(const torch::Tensor& vector, const torch::Tensor& variable);

/// Covariance in physical units from one in logit space at theta, and the way back.
/// shape: [free, free]
torch::Tensor physical_covariance(const env::ParameterSet& parameters, const torch::Tensor& theta,
                                  const torch::Tensor& covariance);
torch::Tensor logit_covariance(const env::ParameterSet& parameters, const torch::Tensor& theta,
                               const torch::Tensor& covariance);

}  // namespace sagips::optim
