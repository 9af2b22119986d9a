// Densities of two observables: the plane they are tabulated on, their likelihood, their sampler.
#include <gtest/gtest.h>

#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/env/densities/plane_density.hpp"
#include "sagips/env/samplers/rosenblatt.hpp"
#include "tests/core/message_of.hpp"
#include "tests/env/noise_of.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

Plane uneven_plane() {
  return {{.low = 0, .high = 2, .points = 9, .spacing = Spacing::quadratic},
          {.low = 0.5, .high = 4, .points = 7, .spacing = Spacing::logarithmic}};
}

// A density whose two observables depend on each other. shape: [samples, 2] -> [samples, 9, 7]
torch::Tensor ridge(const Plane& plane, const torch::Tensor& p) {
  const torch::Tensor x = plane.x().positions().to(p.scalar_type()).view({1, -1, 1});
  const torch::Tensor y = plane.y().positions().to(p.scalar_type()).view({1, 1, -1});
  const torch::Tensor a = p.select(1, 0).view({-1, 1, 1}), b = p.select(1, 1).view({-1, 1, 1});
  return torch::exp(-(y - a * x).square()) + b;
}

PlaneDensity ridge_density(const Plane& plane) {
  return {[plane](const torch::Tensor& p) { return ridge(plane, p); }, plane};
}

Events draw(const Plane& plane, const torch::Tensor& p, Noise noise) {
  Events events;
  events.values = ridge(plane, p);
  return Rosenblatt(plane)(std::move(events), noise);
}

TEST(Axis, PutsItsPointsAsTold) {
  Axis axis{.low = 1, .high = 16, .points = 3};
  EXPECT_TRUE(torch::allclose(axis.positions(), doubles({1, 8.5, 16})));
  axis.spacing = Spacing::quadratic;
  EXPECT_TRUE(torch::allclose(axis.positions(), doubles({1, 4.75, 16})));
  axis.spacing = Spacing::logarithmic;
  EXPECT_TRUE(torch::allclose(axis.positions(), doubles({1, 4, 16})));
}

TEST(Axis, RefusesWhatHasNoPoints) {
  EXPECT_NE(message_of<core::ConfigError>([] {
              Plane({.low = 1, .high = 1}, {});
            }).find("plane.x: the axis 1 .. 1 is empty"),
            std::string::npos);
  EXPECT_NE(message_of<core::ConfigError>([] {
              Plane({}, {.low = 0, .high = 1, .spacing = Spacing::logarithmic});
            }).find("plane.y"),
            std::string::npos);
}

TEST(PlaneDensity, IsBilinearBetweenThePoints) {
  // 1 + x y + p on the unit square is bilinear itself: its integral is 1.25 + p
  const Plane plane({.points = 3}, {.points = 4});
  const PlaneDensity density(
      [&](const torch::Tensor& p) {
        return p.view({-1, 1, 1}) + 1 +
               plane.x().positions().view({-1, 1}) * plane.y().positions().view({1, -1});
      },
      plane);
  const torch::Tensor events = torch::tensor({{0.3, 0.9}, {0.0, 1.0}}, torch::kFloat64);
  const double expected = -std::log(1.77 / 1.75) - std::log(1.5 / 1.75);
  EXPECT_NEAR(density.negative_log_likelihood(doubles({0.5}), density.sample(events, {}, "test"))
                  .item<double>(),
              expected, 1e-12);
  const auto weighted = density.sample(events, doubles({2, 0.5}), "test");
  EXPECT_EQ(weighted.events(), 2.5);
  EXPECT_NEAR(density.negative_log_likelihood(doubles({0.5}), weighted).item<double>(),
              -2 * std::log(1.77 / 1.75) - 0.5 * std::log(1.5 / 1.75), 1e-12);
}

TEST(PlaneDensity, RefusesAnEventOutsideAndNamesItsRow) {
  const PlaneDensity density = ridge_density(uneven_plane());
  for (const double y : {0.49, 4.01}) {
    const torch::Tensor events = torch::tensor({{0.0, 0.5}, {1.0, y}}, torch::kFloat64);
    EXPECT_EQ(message_of<core::DataError>([&] {
                density.sample(events, {}, "data.npy");
              }).find("data.npy:2: the event lies outside"),
              0U);
  }
}

TEST(PlaneDensity, HasTheGradientOfItsValue) {
  const Plane plane = uneven_plane();
  const PlaneDensity density = ridge_density(plane);
  Noise noise = noise_of(3, 1, 50, 0, torch::kFloat64);
  const torch::Tensor x = noise.uniform()[0] * 2, y = noise.uniform()[0] * 3.5 + 0.5;
  const auto sample = density.sample(torch::stack({x, y}, 1), {}, "test");
  const torch::Tensor p = doubles({0.8, 0.3}).requires_grad_();
  const torch::Tensor gradient =
      torch::autograd::grad({density.negative_log_likelihood(p, sample)}, {p})[0];
  constexpr double step = 1e-6;
  for (std::int64_t i = 0; i < 2; ++i) {
    const torch::Tensor move =
        torch::zeros({2}, torch::kFloat64).index_fill_(0, torch::tensor({i}), step);
    const double slope = (density.negative_log_likelihood(p.detach() + move, sample) -
                          density.negative_log_likelihood(p.detach() - move, sample))
                             .item<double>() /
                         (2 * step);
    EXPECT_NEAR(gradient[i].item<double>(), slope, 1e-6 * (1 + std::abs(slope)));
  }
}

// Chi-square of 1e6 events over 48 cells; beyond 5 deviations with probability 5.7e-7.
TEST(Rosenblatt, DrawsFromThePlaneDensity) {
  const Plane plane = uneven_plane();
  constexpr std::int64_t samples = 1000, events = 1000;
  const torch::Tensor p = torch::tensor({{0.8F, 0.1F}}).expand({samples, 2});
  const torch::Tensor drawn = draw(plane, p, noise_of(5, samples, events)).values.flatten(0, 1);
  const torch::Tensor expected =
      ridge_density(plane).probabilities(doubles({0.8, 0.1}))[0] * samples * events;
  const torch::Tensor x = torch::searchsorted(plane.x().positions().slice(0, 1, -1).contiguous(),
                                              drawn.select(1, 0).to(torch::kFloat64).contiguous());
  const torch::Tensor y = torch::searchsorted(plane.y().positions().slice(0, 1, -1).contiguous(),
                                              drawn.select(1, 1).to(torch::kFloat64).contiguous());
  const torch::Tensor counts = torch::bincount(x * 6 + y, {}, 48);
  const double sum = ((counts - expected).square() / expected).sum().item<double>();
  EXPECT_LT(chi_square_pull(sum, 47), 5);
  EXPECT_GE(drawn.select(1, 0).min().item<double>(), 0);
  EXPECT_LE(drawn.select(1, 1).max().item<double>(), 4 * (1 + 1e-6));
}

// Inside the cells too: the mean of x y over 1e6 events against its integral, within 5 errors.
TEST(Rosenblatt, FillsTheCellsBilinearly) {
  const Plane plane({.points = 3}, {.points = 3});
  const torch::Tensor table =
      plane.x().positions().view({-1, 1}) * plane.y().positions().view({1, -1});
  Events density;
  density.values = table.to(torch::kFloat32).expand({1000, 3, 3});
  Noise noise = noise_of(5, 1000, 1000);
  const torch::Tensor drawn = Rosenblatt(plane)(density, noise).values.to(torch::kFloat64);
  const torch::Tensor product = drawn.select(2, 0) * drawn.select(2, 1);
  // x and y have density 2 x each: E[x y] = 4/9, E[(x y)^2] = 1/4
  const double error = std::sqrt((0.25 - 16.0 / 81) / 1e6);
  EXPECT_NEAR(product.mean().item<double>(), 4.0 / 9, 5 * error);
}

// The whole derivative at fixed random numbers, also of events that move from cell to cell.
TEST(Rosenblatt, HasTheWholeGradientOfEveryEvent) {
  const Plane plane = uneven_plane();
  const auto at = [&](const torch::Tensor& p) {
    return draw(plane, p.unsqueeze(0), noise_of(9, 1, 2000, 0, torch::kFloat64)).values[0];
  };
  const torch::Tensor p = doubles({0.8, 0.3}).requires_grad_();
  const torch::Tensor drawn = at(p);
  constexpr double step = 1e-6;
  const torch::Tensor factors = torch::sin(torch::arange(4000, torch::kFloat64)).view({2000, 2});
  for (std::int64_t i = 0; i < 2; ++i) {
    const torch::Tensor move =
        torch::zeros({2}, torch::kFloat64).index_fill_(0, torch::tensor({i}), step);
    const torch::Tensor slope = (at(p.detach() + move) - at(p.detach() - move)) / (2 * step);
    EXPECT_GT(slope.abs().max().item<double>(), 0.05);
    for (const std::int64_t k : {0, 1}) {
      const torch::Tensor sum = (drawn.select(1, k) * factors.select(1, k)).sum();
      const double found = torch::autograd::grad({sum}, {p}, {}, true)[0][i].item<double>();
      const double expected = (slope.select(1, k) * factors.select(1, k)).sum().item<double>();
      EXPECT_NEAR(found, expected, 1e-5 * slope.select(1, k).abs().sum().item<double>());
    }
  }
}

TEST(Rosenblatt, NamesATableThatDoesNotFit) {
  Events density;
  density.values = torch::ones({2, 7, 9});
  Noise noise = noise_of(1, 2, 5);
  EXPECT_NE(message_of<core::ShapeError>([&] {
              Rosenblatt{uneven_plane()}(density, noise);
            }).find("rosenblatt"),
            std::string::npos);
}

// Half of the plane is empty: nothing is drawn there, and no gradient is 0 / 0.
TEST(Rosenblatt, StaysFiniteWhereTheDensityVanishes) {
  const Plane plane({.points = 9}, {.points = 9});
  const torch::Tensor p = torch::ones({4, 1, 1}).requires_grad_();
  Events density;
  density.values = p * (plane.x().positions().to(torch::kFloat32) > 0.45).view({1, -1, 1}) *
                   (plane.y().positions().to(torch::kFloat32) > 0.45).view({1, 1, -1});
  Noise noise = noise_of(1, 4, 5000);
  const torch::Tensor drawn = Rosenblatt(plane)(density, noise).values;
  EXPECT_GE(drawn.min().item<double>(), 0.375 - 1e-6);
  drawn.square().sum().backward();
  EXPECT_TRUE(torch::isfinite(p.grad()).all().item<bool>());
}

}  // namespace
}  // namespace sagips::env
