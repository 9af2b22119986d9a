#include "sagips/env/compare/distance.hpp"

#include <algorithm>

namespace sagips::env {

double kolmogorov_smirnov(const EventRows& a, const EventRows& b) {
  torch::NoGradGuard no_grad;
  const auto [sorted, order] = torch::cat({a.values, b.values}).to(torch::kFloat64).sort();
  const torch::Tensor steps = torch::cat({a.shares(), -b.shares()});
  const torch::Tensor difference = steps.index({order}).cumsum(0).abs();
  // between equal values there is no point at which the functions could be compared
  const torch::Tensor last_of_ties =
      torch::cat({sorted.slice(0, 1) != sorted.slice(0, 0, -1), torch::ones({1}, torch::kBool)});
  return (difference * last_of_ties).max().item<double>();
}

double energy_distance(const EventRows& a, const EventRows& b) {
  torch::NoGradGuard no_grad;
  const torch::Tensor x = a.values.to(torch::kFloat64), y = b.values.to(torch::kFloat64);
  const auto within = [](const torch::Tensor& z, const EventRows& events) {
    const torch::Tensor distances = torch::cdist(z, z, 2, 2), shares = events.shares();
    if (events.weights.defined())
      return shares.dot(distances.mv(shares)).item<double>() /
             std::max(1 - 1 / events.effective_size(), 1e-12);
    const auto n = static_cast<double>(events.size());
    return distances.sum().item<double>() / (n * (n - 1));
  };
  const torch::Tensor across = torch::cdist(x, y, 2, 2);
  const bool weighted = a.weights.defined() || b.weights.defined();
  const torch::Tensor mean = weighted ? a.shares().dot(across.mv(b.shares())) : across.mean();
  return 2 * mean.item<double>() - within(x, a) - within(y, b);
}

}  // namespace sagips::env
