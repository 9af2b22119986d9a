#include "sagips/optim/search/gaussian_process.hpp"

#include <cmath>
#include <limits>

#include <torch/optim/lbfgs.h>

namespace sagips::optim {

namespace {

constexpr double jitter = 1e-8;  // of the diagonal, in units of the variance
constexpr int most_iterations = 20;

torch::Tensor matern(const torch::Tensor& a, const torch::Tensor& b,
                     const torch::Tensor& parameters) {
  const torch::Tensor lengths = torch::exp(parameters.narrow(0, 0, a.size(1)));
  constexpr int64_t differences =
      2;  // of the points themselves: near ones must not be rounded away
  // s^2 (1 + z + z^2 / 3) exp(-z), z = sqrt(5) r
  const torch::Tensor z = std::sqrt(5.0) * torch::cdist(a / lengths, b / lengths, 2, differences);
  return torch::exp(2 * parameters[a.size(1)]) * (1 + z + z.square() / 3) * torch::exp(-z);
}

torch::Tensor covariance(const torch::Tensor& points, const torch::Tensor& parameters) {
  const torch::Tensor noise =
      torch::exp(2 * parameters[-1]) + jitter * torch::exp(2 * parameters[-2]);
  return matern(points, points, parameters) + noise * torch::eye(points.size(0), torch::kFloat64);
}

// ln density of the parameters' priors, all normal: mean and deviation of ln length, ln deviation,
// ln noise deviation
torch::Tensor log_prior(const torch::Tensor& parameters) {
  const std::int64_t n = parameters.size(0) - 2;
  const auto normal = [](const torch::Tensor& x, double mean, double deviation) {
    return -0.5 * ((x - mean) / deviation).square().sum();
  };
  return normal(parameters.narrow(0, 0, n), std::log(0.5), 1) + normal(parameters[n], 0, 1) +
         normal(parameters[n + 1], std::log(0.01), 1.5);
}

// -ln p(values | points, parameters) - ln prior; infinite where the matrix cannot be factorised
torch::Tensor cost(const torch::Tensor& points, const torch::Tensor& values,
                   const torch::Tensor& parameters) {
  const auto [factor, failed] = torch::linalg_cholesky_ex(covariance(points, parameters));
  if (failed.item<int>() != 0)
    return (parameters * 0).sum() + std::numeric_limits<double>::infinity();
  const torch::Tensor solved =
      torch::linalg_solve_triangular(factor, values.unsqueeze(1), /*upper=*/false);
  return 0.5 * solved.square().sum() + factor.diagonal().log().sum() - log_prior(parameters);
}

}  // namespace

torch::Tensor GaussianProcess::most_probable(const torch::Tensor& points,
                                             const torch::Tensor& values) {
  torch::AutoGradMode with_gradients(true);
  torch::Tensor parameters = torch::zeros({points.size(1) + 2}, torch::kFloat64);
  parameters.narrow(0, 0, points.size(1)).fill_(std::log(0.5));
  parameters[-1].fill_(std::log(0.01));
  parameters.requires_grad_();
  torch::Tensor best = parameters.detach().clone();
  double lowest = std::numeric_limits<double>::infinity();
  torch::optim::LBFGS method(
      {parameters},
      torch::optim::LBFGSOptions(1).max_iter(most_iterations).line_search_fn("strong_wolfe"));
  method.step([&] {
    method.zero_grad();
    torch::Tensor value = cost(points, values, parameters);
    if (value.item<double>() < lowest) {
      lowest = value.item<double>();
      best = parameters.detach().clone();
    }
    value.backward();
    return value;
  });
  return best;
}

GaussianProcess::GaussianProcess(torch::Tensor points, torch::Tensor values,
                                 torch::Tensor parameters)
    : points_(std::move(points)), values_(std::move(values)), parameters_(std::move(parameters)) {
  condition();
}

void GaussianProcess::condition() {
  torch::NoGradGuard no_grad;
  factor_ = torch::linalg_cholesky(covariance(points_, parameters_));
  weights_ = torch::cholesky_solve(values_.unsqueeze(1), factor_).squeeze(1);
}

GaussianProcess::Prediction GaussianProcess::predict(const torch::Tensor& points) const {
  const torch::Tensor between = matern(points_, points, parameters_);  // [n, m]
  const torch::Tensor solved = torch::linalg_solve_triangular(factor_, between, /*upper=*/false);
  const torch::Tensor variance = torch::exp(2 * parameters_[-2]) - solved.square().sum(0);
  return {between.t().mv(weights_), variance.clamp_min(1e-14).sqrt()};
}

GaussianProcess GaussianProcess::believing(const torch::Tensor& points) const {
  torch::NoGradGuard no_grad;
  GaussianProcess other;
  other.points_ = torch::cat({points_, points});
  other.values_ = torch::cat({values_, predict(points).mean});
  other.parameters_ = parameters_;
  other.condition();
  return other;
}

}  // namespace sagips::optim
