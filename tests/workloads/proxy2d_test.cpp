#include "workloads/proxy2d/proxy2d.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sagips/optim/estimate.hpp"
#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "sagips/problem/loaded_data.hpp"

namespace sagips::workloads {
namespace {

constexpr double events = 100'000;

env::Environment environment_of(std::int64_t toys, std::uint64_t seed) {
  const auto workload = proxy2d_workload().make();
  problem::DataSettings settings;
  settings.toy_events = toys;
  return problem::load_data(*workload, settings, seed).all();
}

std::vector<double> floors_of(const env::Environment& environment) {
  return optim::cramer_rao_errors(environment, optim::ReferenceUse::ignore,
                                  environment.parameters.truth(), events);
}

// Floors of the exact density for 1e5 events, relative, to the digits at hand.
TEST(Proxy2d, HasTheFloorsOfItsDensity) {
  const env::Environment environment = environment_of(100, 1);
  const std::vector<double> floors = floors_of(environment);
  const std::vector<double> expected = {0.013, 0.007, 0.019, 0.0073, 0.19};
  const std::vector<double> rounding = {0.0005, 0.0005, 0.0005, 0.00005, 0.005};
  const torch::Tensor truth = environment.parameters.truth();
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(floors[i] / truth[static_cast<std::int64_t>(i)].item<double>(), expected[i],
                rounding[i])
        << environment.parameters.names()[i];
}

// Events of the exact density, as a mesh of weighted ones, pull a fit with the table away from the
// truth by covariance * gradient: what the table costs.
TEST(Proxy2d, HasATableWhoseErrorIsFarBelowTheFloor) {
  const env::Environment environment = environment_of(100, 1);
  const torch::Tensor truth = environment.parameters.truth();
  // midpoints of equal steps in the square root, where the density is smooth at the low end
  constexpr std::int64_t mesh = 700;
  const double first = std::sqrt(0.001), step = (std::sqrt(0.999) - first) / mesh;
  const torch::Tensor root = (torch::arange(mesh, torch::kFloat64) + 0.5) * step + first;
  const torch::Tensor x = root.square(), area = root * 2 * step;
  const auto density = [&](int i, int j) {
    return torch::exp(truth[i] * torch::log(x) + truth[j] * torch::log1p(-x)) * area;
  };
  const torch::Tensor product = x.unsqueeze(1) * x * truth[4] + 1;
  torch::Tensor weights = density(0, 1).unsqueeze(1) * density(2, 3) * product;
  weights = weights * (events / weights.sum());
  const torch::Tensor pairs =
      torch::stack({x.unsqueeze(1).expand({mesh, mesh}), x.expand({mesh, mesh})}, 2).flatten(0, 1);

  const env::Density& table = *environment.channels[0].density;
  const auto sample = table.sample(pairs, weights.flatten(), "mesh");
  const torch::Tensor p = truth.clone().requires_grad_();
  const torch::Tensor gradient =
      torch::autograd::grad({table.negative_log_likelihood(p, sample)}, {p})[0];
  const optim::Likelihood likelihood =
      optim::Likelihood::expected(environment, optim::ReferenceUse::ignore, truth, events);
  const torch::Tensor unit = environment.parameters.unit_from_physical(truth);
  const torch::Tensor covariance =
      optim::estimate_at(
          environment.parameters, unit, unit,
          optim::uncertainty_of(likelihood.hessian(unit, {}), likelihood.at(unit).jacobian))
          .covariance;
  const torch::Tensor shift = covariance.matmul(gradient);
  const std::vector<double> floors = floors_of(environment);
  for (std::size_t i = 0; i < floors.size(); ++i)
    EXPECT_LT(std::abs(shift[static_cast<std::int64_t>(i)].item<double>()) / floors[i], 0.15)
        << environment.parameters.names()[i];
}

// Each of five values lies beyond 4.5 errors with probability 7e-6.
TEST(Proxy2d, IsFittedFromItsOwnEvents) {
  const env::Environment environment = environment_of(static_cast<std::int64_t>(events), 3);
  const optim::FitResult fit = optim::fit_maximum_likelihood(environment, {}, 3);
  EXPECT_EQ(fit.starts, 1);
  for (std::size_t i = 0; i < fit.values.size(); ++i)
    EXPECT_FALSE(fit.lower_limits[i] || fit.upper_limits[i]) << i;
  const std::vector<double> floors = floors_of(environment);
  for (std::size_t i = 0; i < floors.size(); ++i) {
    const double truth =
        environment.parameters.truth()[static_cast<std::int64_t>(i)].item<double>();
    EXPECT_LT(std::abs(fit.values[i] - truth), 4.5 * fit.errors[i]);
    EXPECT_NEAR(fit.errors[i] / floors[i], 1, 0.05);
  }
}

}  // namespace
}  // namespace sagips::workloads
