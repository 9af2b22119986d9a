#include "sagips/optim/estimate.hpp"

#include <cmath>

namespace sagips::optim {

namespace {

// d physical / d logit of the free parameters. shape: [free, free]
torch::Tensor slope_at(const env::ParameterSet& parameters, const torch::Tensor& theta) {
  const torch::Tensor variable = differentiable(theta);
  const torch::Tensor physical = parameters.physical_from_logit(variable);
  std::vector<torch::Tensor> free_values;
  for (const auto i : parameters.free())
    free_values.push_back(physical[static_cast<std::int64_t>(i)]);
  return jacobian_of(torch::stack(free_values), variable);
}

}  // namespace

std::vector<double> numbers_of(const torch::Tensor& tensor) {
  const torch::Tensor dense = tensor.contiguous();
  return {dense.data_ptr<double>(), dense.data_ptr<double>() + dense.numel()};
}

torch::Tensor differentiable(const torch::Tensor& theta) {
  return theta.detach().to(torch::kFloat64).clone().requires_grad_();
}

torch::Tensor jacobian_of(const torch::Tensor& vector, const torch::Tensor& variable) {
  std::vector<torch::Tensor> rows;
  for (std::int64_t i = 0; i < vector.size(0); ++i) {
    const auto row = torch::autograd::grad({vector[i]}, {variable}, {}, true, false, true)[0];
    rows.push_back(row.defined() ? row : torch::zeros_like(variable));
  }
  return rows.empty() ? torch::zeros({0, variable.size(0)}, torch::kFloat64) : torch::stack(rows);
}

torch::Tensor physical_covariance(const env::ParameterSet& parameters, const torch::Tensor& theta,
                                  const torch::Tensor& covariance) {
  const torch::Tensor slope = slope_at(parameters, theta);
  return slope.matmul(covariance).matmul(slope.t());
}

torch::Tensor logit_covariance(const env::ParameterSet& parameters, const torch::Tensor& theta,
                               const torch::Tensor& covariance) {
  const torch::Tensor inverse = torch::linalg_inv(slope_at(parameters, theta));
  return inverse.matmul(covariance).matmul(inverse.t());
}

Estimate estimate_at(const env::ParameterSet& parameters, const torch::Tensor& theta,
                     const torch::Tensor& covariance) {
  Estimate estimate;
  estimate.values = numbers_of(parameters.physical_from_logit(theta));
  estimate.covariance = physical_covariance(parameters, theta, covariance);
  estimate.errors.assign(estimate.values.size(), 0.0);
  for (std::size_t i = 0; i < parameters.free().size(); ++i) {
    const std::size_t index = parameters.free()[i];
    const auto row = static_cast<std::int64_t>(i);
    const double error = std::sqrt(estimate.covariance[row][row].item<double>());
    estimate.errors[index] = error;
    const env::Parameter& parameter = parameters.all()[index];
    if (estimate.values[index] - 2 * error < parameter.low ||
        estimate.values[index] + 2 * error > parameter.high)
      estimate.at_limit.push_back(parameter.name);
  }
  return estimate;
}

}  // namespace sagips::optim
