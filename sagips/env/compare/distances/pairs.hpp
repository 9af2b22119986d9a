#pragma once
#include <functional>

#include "sagips/data/torch.hpp"

namespace sagips::env::distances {

/// A function of the distance between two events.
struct RadialFunction {
  /// f(r) and f'(r) / r, from r^2. shape: [...] -> [...] twice; f'(r) / r is 0 where it diverges
  std::function<std::pair<torch::Tensor, torch::Tensor>(const torch::Tensor& square)>
      value_and_slope;
};

/// r itself.
RadialFunction euclidean();
/// Mean over the widths s of exp(-r^2 / 2 s^2).
RadialFunction gaussians(std::vector<double> widths);

/// For each event of `to` the mean of f(|x - y|) over the events of `from` by share. Differentiable
/// by `to` alone; no graph of the pairs is kept.
///
/// shape: to [m, observables], from [n, observables], shares [n]; all float64 -> [m]
/// cost:  O(n m (observables + some)) time, memory of 2^16 pairs at a time
torch::Tensor mean_over(const RadialFunction& f, const torch::Tensor& to, const torch::Tensor& from,
                        const torch::Tensor& shares);

/// Mean of f(|x - x'|) over pairs of different events by share; pairs of an event with itself are
/// left out. Differentiable by both.
/// shape: events [n, observables], shares [n] -> []
torch::Tensor mean_within(const RadialFunction& f, const torch::Tensor& events,
                          const torch::Tensor& shares);

}  // namespace sagips::env::distances
