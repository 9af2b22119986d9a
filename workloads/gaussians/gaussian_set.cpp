#include "workloads/gaussians/gaussian_set.hpp"

#include <cmath>

namespace sagips::workloads::gaussians {

namespace {

torch::Tensor numbers(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}

}  // namespace

GaussianSet::GaussianSet(View view)
    : view_(std::move(view)), combination_(numbers(view_.combination)) {}

torch::Tensor GaussianSet::operator()(torch::Tensor parameters, env::Noise& noise) const {
  const torch::Tensor mean = torch::matmul(parameters, combination_.like(parameters)).unsqueeze(1);
  const torch::Tensor along = mean + noise.normal() * view_.along;
  const torch::Tensor across = noise.normal() * view_.across;
  const double c = std::cos(view_.angle), s = std::sin(view_.angle);
  return torch::stack({along * c - across * s, along * s + across * c}, 2);
}

GaussianDensity::GaussianDensity(View view, double reach)
    : view_(std::move(view)), combination_(numbers(view_.combination)) {
  constexpr double tail = 6, cells = 20;  // in standard deviations; of each
  const double last = reach / view_.along + tail;
  edges_ = torch::linspace(-last, last, std::llround(2 * last * cells) + 1, torch::kFloat64) *
           view_.along;
}

torch::Tensor GaussianDensity::mean(const torch::Tensor& parameters) const {
  return torch::matmul(parameters.to(torch::kFloat64), combination_);
}

GaussianDensity::Sample GaussianDensity::sample(const torch::Tensor& values,
                                                const torch::Tensor& weights,
                                                const std::string&) const {
  const torch::Tensor precise = values.to(torch::kFloat64);
  const double c = std::cos(view_.angle), s = std::sin(view_.angle);
  Sample sample;
  sample.values = torch::stack({precise.select(1, 0) * c + precise.select(1, 1) * s,
                                precise.select(1, 1) * c - precise.select(1, 0) * s});
  sample.weights = weights.defined() ? weights.to(torch::kFloat64)
                                     : torch::ones({values.size(0)}, torch::kFloat64);
  sample.total = sample.weights.sum().item<double>();
  return sample;
}

torch::Tensor GaussianDensity::negative_log_likelihood(const torch::Tensor& parameters,
                                                       const Sample& sample) const {
  const torch::Tensor along = (sample.values[0] - mean(parameters)) / view_.along;
  const torch::Tensor across = sample.values[1] / view_.across;
  const torch::Tensor squares = (along.square() + across.square()) * 0.5;
  return (squares * sample.weights).sum() +
         sample.total * std::log(2 * M_PI * view_.along * view_.across);
}

torch::Tensor GaussianDensity::probabilities(const torch::Tensor& parameters) const {
  const torch::Tensor distance = (edges_ - mean(parameters)) / view_.along;
  // each side from its own tail, where differences lose no digits
  const torch::Tensor below = torch::erfc(-distance * M_SQRT1_2) * 0.5;
  const torch::Tensor above = torch::erfc(distance * M_SQRT1_2) * 0.5;
  const torch::Tensor left = below.slice(0, 1) - below.slice(0, 0, -1);
  const torch::Tensor right = above.slice(0, 0, -1) - above.slice(0, 1);
  return torch::where(distance.slice(0, 1) < 0, left, right).unsqueeze(0);
}

}  // namespace sagips::workloads::gaussians
