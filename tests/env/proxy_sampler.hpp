#pragma once
#include <string>
#include <vector>

#include "sagips/env/samplers/inverse_cdf.hpp"
#include "tests/env/noise_of.hpp"

namespace sagips::testing {

using env::CellRule;
using env::Events;
using env::Grid;
using env::InverseCdf;

inline Grid grid_of(double low, double high, std::int64_t points, CellRule rule) {
  return {.low = low, .high = high, .points = points, .rule = rule};
}

inline Grid proxy_grid(CellRule rule) { return grid_of(0.1, 0.99999, 1000, rule); }

inline const std::vector<double> proxy_truth = {2.1875, -0.5, 3, 1.09375, -0.5, 4};

// 4 u + d and 4 d + u with q(x) = N x^a (1 - x)^b. shape: [samples, 6] -> [samples, 2, points]
inline torch::Tensor proxy_table(const Grid& grid, const torch::Tensor& parameters) {
  const torch::Tensor x = grid.positions(parameters.options().requires_grad(false));
  const auto q = [&](std::int64_t first) {
    const auto p = [&](std::int64_t i) { return parameters.select(1, first + i).unsqueeze(1); };
    return p(0) * x.pow(p(1)) * (1 - x).pow(p(2));
  };
  return torch::stack({4 * q(0) + q(3), 4 * q(3) + q(0)}, 1);
}

inline InverseCdf sampler_of(const Grid& grid, double coverage = 1) {
  return InverseCdf({grid, coverage, {"norm_1", "norm_2"}});
}

inline Events table_of(torch::Tensor values) {
  Events events;
  events.values = std::move(values);
  return events;
}

/// `samples` * 1000 events of the proxy at its truth.
inline Events proxy_events(const Grid& grid, double coverage, std::int64_t samples) {
  env::Noise noise = noise_of(11, samples, 1000);
  const torch::Tensor truth = doubles(proxy_truth).to(torch::kFloat32).expand({samples, 6});
  return sampler_of(grid, coverage)(table_of(proxy_table(grid, truth)), noise);
}

}  // namespace sagips::testing
