#include "sagips/env/distance.hpp"

namespace sagips::env {

double kolmogorov_smirnov(const torch::Tensor& a, const torch::Tensor& a_weights,
                          const torch::Tensor& b, const torch::Tensor& b_weights) {
  torch::NoGradGuard no_grad;
  const auto share = [](const torch::Tensor& values, const torch::Tensor& weights) {
    if (!weights.defined())
      return torch::full({values.numel()}, 1.0 / static_cast<double>(values.numel()),
                         torch::kFloat64);
    const torch::Tensor precise = weights.to(torch::kFloat64);
    return precise / precise.sum();
  };
  const auto [sorted, order] = torch::cat({a, b}).to(torch::kFloat64).sort();
  const torch::Tensor steps = torch::cat({share(a, a_weights), -share(b, b_weights)});
  const torch::Tensor difference = steps.index({order}).cumsum(0).abs();
  // between equal values there is no point at which the functions could be compared
  const torch::Tensor last_of_ties =
      torch::cat({sorted.slice(0, 1) != sorted.slice(0, 0, -1), torch::ones({1}, torch::kBool)});
  return (difference * last_of_ties).max().item<double>();
}

double energy_distance(const torch::Tensor& a, const torch::Tensor& b) {
  torch::NoGradGuard no_grad;
  const torch::Tensor x = a.to(torch::kFloat64), y = b.to(torch::kFloat64);
  const auto within = [](const torch::Tensor& z) {
    const auto n = static_cast<double>(z.size(0));
    return torch::cdist(z, z, 2, 2).sum().item<double>() / (n * (n - 1));
  };
  return 2 * torch::cdist(x, y, 2, 2).mean().item<double>() - within(x) - within(y);
}

}  // namespace sagips::env
