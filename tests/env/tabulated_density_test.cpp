#include "sagips/env/densities/tabulated_density.hpp"

#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"
#include "tests/env/proxy_sampler.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

// Peak at p on [0, 1], falling to zero at the upper end.
torch::Tensor bump(const Grid& grid, const torch::Tensor& p) {
  const torch::Tensor x = grid.positions(p.options().requires_grad(false));
  const torch::Tensor shape = torch::exp((x - p.select(1, 0).unsqueeze(1)).square() * -8) * (1 - x);
  return torch::stack({shape, shape.square()}, 1);
}

TabulatedDensity bump_density(const Grid& grid, std::vector<std::string> norms = {}) {
  return {[grid](const torch::Tensor& p) { return bump(grid, p); }, grid, std::move(norms)};
}

Grid coarse(CellRule rule) { return grid_of(0, 1, 41, rule); }

double likelihood_of(const TabulatedDensity& density, const torch::Tensor& p,
                     const torch::Tensor& x, const torch::Tensor& weights = {}) {
  return density.negative_log_likelihood(p, density.sample(x, weights, "test")).item<double>();
}

TEST(TabulatedDensity, IntegratesToOne) {
  for (const CellRule rule : {CellRule::left, CellRule::trapezoid}) {
    const Grid grid = coarse(rule);
    const TabulatedDensity density(
        [grid](const torch::Tensor& p) { return bump(grid, p).narrow(1, 0, 1); }, grid, {});
    const torch::Tensor p = doubles({0.4});
    EXPECT_NEAR(density.probabilities(p).sum().item<double>(), 1, 1e-14);
    // both rules are at most linear in a cell, so one point a cell is exact
    double integral =
        rule == CellRule::left ? density.probabilities(p)[0][-1].item<double>() : 0;  // at the end
    for (int cell = 0; cell < 40; ++cell) {
      const double x = grid.low + (cell + 0.5) * grid.step();
      integral += std::exp(-likelihood_of(density, p, doubles({x}).view({1, 1}))) * grid.step();
    }
    EXPECT_NEAR(integral, 1, 1e-12);
  }
}

// The table 1, 3, 0 on the points 0, 1, 2. left: cells 1/4, 3/4, nothing at the last point. trapezoid: integral 2 + 1.5.
TEST(TabulatedDensity, EqualsAHandCalculation) {
  const auto table = [](const torch::Tensor&) { return doubles({1, 3, 0}).view({1, 1, 3}); };
  const torch::Tensor x = doubles({0.25, 1.5}).unsqueeze(1);
  const torch::Tensor p = doubles({0});
  const TabulatedDensity left(table, grid_of(0, 3, 3, CellRule::left), {"norm"});
  EXPECT_TRUE(torch::allclose(left.probabilities(p), doubles({0.25, 0.75, 0}).unsqueeze(0)));
  EXPECT_NEAR(likelihood_of(left, p, x), -std::log(0.25) - std::log(0.75), 1e-14);
  EXPECT_NEAR(left.norms(p)[0].item<double>(), 4, 1e-14);
  const TabulatedDensity trapezoid(table, grid_of(0, 2, 3, CellRule::trapezoid), {"norm"});
  EXPECT_NEAR(likelihood_of(trapezoid, p, x), -2 * std::log(1.5 / 3.5), 1e-14);
  EXPECT_NEAR(trapezoid.norms(p)[0].item<double>(), 3.5, 1e-14);
  const double weighted = likelihood_of(trapezoid, p, x, doubles({2, 0.5}));
  EXPECT_NEAR(weighted, -2.5 * std::log(1.5 / 3.5), 1e-14);
  EXPECT_NEAR(likelihood_of(left, p, x, doubles({2, 0.5})),
              -2 * std::log(0.25) - 0.5 * std::log(0.75), 1e-14);
}

// Chi-square of 1e6 events over 40 cells of two observables and two rules; beyond 5 deviations with
// 5.7e-7 each, false alarm 2.3e-6.
TEST(TabulatedDensity, EqualsTheHistogramOfTheSampler) {
  constexpr std::int64_t samples = 1000, events = 1000;
  for (const CellRule rule : {CellRule::left, CellRule::trapezoid}) {
    const Grid grid = coarse(rule);
    Noise noise = noise_of(7, samples, events);
    const torch::Tensor p = torch::full({samples, 1}, 0.4);
    const torch::Tensor x = InverseCdf({grid, 1, {}})(table_of(bump(grid, p)), noise).values;
    torch::Tensor expected = bump_density(grid).probabilities(doubles({0.4})) * samples * events;
    for (std::int64_t k = 0; k < 2; ++k) {
      torch::Tensor counts =
          torch::histc(x.select(2, k).to(torch::kFloat64), 40, grid.low, grid.last());
      if (rule == CellRule::left) {
        const torch::Tensor last = (x.select(2, k) > grid.last() - 1e-6).sum().to(torch::kFloat64);
        counts[-1] -= last;
        counts = torch::cat({counts, last.unsqueeze(0)});
      }
      // the last cells hold too few events for a chi-square
      const torch::Tensor kept = expected[k] > 100;
      const torch::Tensor terms = (counts - expected[k]).square() / expected[k];
      const double sum = (terms * kept).sum().item<double>();
      EXPECT_LT(chi_square_pull(sum, kept.sum().item<double>() - 1), 5) << "observable " << k;
    }
  }
}

// (1 - x)^0.15 is still a third at the last of 41 points. Chi-square as above: false alarm 5.7e-7.
TEST(TabulatedDensity, HasTheSamplersMassAtTheLastPoint) {
  constexpr std::int64_t samples = 1000, events = 1000;
  const Grid grid = coarse(CellRule::left);
  const auto table = [grid](const torch::Tensor& p) {
    const torch::Tensor x = grid.positions(p.options());
    return (1 - x).pow(0.15).expand({p.size(0), 1, grid.points});
  };
  const TabulatedDensity density(table, grid, {});
  Noise noise = noise_of(8, samples, events);
  const torch::Tensor x =
      InverseCdf({grid, 1, {}})(table_of(table(torch::zeros({samples, 1}))), noise).values;
  const auto sample = density.sample(x.flatten(0, 1), {}, "sampler");
  const torch::Tensor expected = density.probabilities(doubles({0}))[0] * samples * events;
  const double sum = ((sample.counts[0] - expected).square() / expected).sum().item<double>();
  EXPECT_GT(expected[-1].item<double>(), 1e4);
  EXPECT_LT(chi_square_pull(sum, static_cast<double>(grid.points - 1)), 5);
}

TEST(TabulatedDensity, GivesTheSamplersNumbers) {
  const Grid grid = proxy_grid(CellRule::left);
  const TabulatedDensity density([grid](const torch::Tensor& p) { return proxy_table(grid, p); },
                                 grid, {"norm_1", "norm_2"});
  const torch::Tensor norms = density.norms(doubles(proxy_truth));
  const Events events = proxy_events(grid, 1, 1);
  EXPECT_NEAR(norms[0].item<double>(), events.numbers.at("norm_1")[0].item<double>(), 1e-6);
  EXPECT_NEAR(norms[1].item<double>(), events.numbers.at("norm_2")[0].item<double>(), 1e-6);
}

TEST(TabulatedDensity, RefusesAnEventOutsideAndNamesItsRow) {
  for (const CellRule rule : {CellRule::left, CellRule::trapezoid}) {
    const TabulatedDensity density = bump_density(coarse(rule));
    const double last = density.grid().last();
    for (const double outside : {-0.01, last + 0.01}) {
      const torch::Tensor x = torch::tensor({{0.5, 0.5}, {0.5, outside}}, torch::kFloat64);
      EXPECT_EQ(message_of<core::DataError>([&] {
                  density.sample(x, {}, "data.npy");
                }).find("data.npy:2: the event lies outside"),
                0U);
    }
    const torch::Tensor at_the_ends = torch::tensor({{0.0, last}}, torch::kFloat64);
    EXPECT_EQ(density.sample(at_the_ends, {}, "data.npy").events(), 1.0);
  }
}

TEST(TabulatedDensity, CountsEventsByWeight) {
  const TabulatedDensity density = bump_density(coarse(CellRule::left));
  const torch::Tensor x = torch::full({3, 2}, 0.5, torch::kFloat64);
  EXPECT_EQ(density.sample(x, {}, "test").events(), 3.0);
  EXPECT_EQ(density.sample(x, doubles({0.5, 2, 1}), "test").events(), 3.5);
}

// Half of the table has density zero, and no event lies there.
TEST(TabulatedDensity, GivesNoNaNForEmptyCellsWithoutEvents) {
  for (const CellRule rule : {CellRule::left, CellRule::trapezoid}) {
    const Grid grid = grid_of(0, 1, 12, rule);
    const auto table = [grid](const torch::Tensor& p) {
      const torch::Tensor x = grid.positions(torch::kFloat64);
      return ((x < 0.5) * (1 + p.select(1, 0).unsqueeze(1) * x)).unsqueeze(1);
    };
    const TabulatedDensity density(table, grid, {});
    const auto sample = density.sample(doubles({0.1, 0.3}).unsqueeze(1), {}, "test");
    const torch::Tensor p = doubles({0.7}).requires_grad_();
    const torch::Tensor value = density.negative_log_likelihood(p, sample);
    EXPECT_TRUE(std::isfinite(value.item<double>()));
    const torch::Tensor gradient = torch::autograd::grad({value}, {p}, {}, true, true)[0];
    EXPECT_TRUE(std::isfinite(gradient.item<double>())) << "gradient";
    const torch::Tensor second = torch::autograd::grad({gradient}, {p})[0];
    EXPECT_TRUE(std::isfinite(second.item<double>())) << "second derivative";
  }
}

}  // namespace
}  // namespace sagips::env
