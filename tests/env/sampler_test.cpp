#include <gtest/gtest.h>

#include <algorithm>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"
#include "tests/env/proxy_sampler.hpp"
#include "tests/env/recorded_noise.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

torch::Tensor sorted_column(const Events& events, std::int64_t observable) {
  const torch::Tensor column = events.values.select(2, observable).flatten().to(torch::kFloat64);
  return std::get<0>(column.sort()).contiguous();
}

/// The distribution function that a sampler of this rule has by construction, in double precision:
/// linear between the points, total mass of a `left` table with its last point.
class OwnDistribution {
 public:
  OwnDistribution(const Grid& grid, double coverage, std::int64_t observable) : grid_(grid) {
    const torch::Tensor density =
        proxy_table(grid, doubles(proxy_truth).unsqueeze(0))[0][observable].contiguous();
    const double* d = density.data_ptr<double>();
    const auto points = static_cast<std::size_t>(grid.points);
    survival_.assign(points, grid.rule == CellRule::left ? d[points - 1] : 0.0);
    for (std::size_t i = points - 1; i-- > 0;)
      survival_[i] =
          survival_[i + 1] + (grid.rule == CellRule::left ? d[i] : (d[i] + d[i + 1]) / 2);
    const double total = survival_.front();
    for (double& value : survival_) value /= total * coverage;
  }

  double below(double x) const {
    const double position = (x - grid_.low) / grid_.step();
    const auto cell = std::min(static_cast<std::size_t>(position), survival_.size() - 2);
    const double share = position - static_cast<double>(cell);
    return std::max(0.0, 1 - std::lerp(survival_[cell], survival_[cell + 1], share));
  }

  double quantile(double probability) const {
    const double survival = 1 - probability;
    std::size_t upper = 1;
    while (survival_[upper] > survival) ++upper;
    const double share =
        (survival_[upper - 1] - survival) / (survival_[upper - 1] - survival_[upper]);
    return grid_.low + grid_.step() * (static_cast<double>(upper - 1) + share);
  }

  /// Probability per unit of x.
  double density(double x) const {
    const auto cell = static_cast<std::size_t>((x - grid_.low) / grid_.step());
    return (survival_[cell] - survival_[cell + 1]) / grid_.step();
  }

 private:
  Grid grid_;
  std::vector<double> survival_;
};

// source: docs/physics/proxy1d.md; the left rule lies above the integrals 3.26846 and 1.87259 by
// half a step times the densities' fall
TEST(InverseCdf, GivesTheProxysNorms) {
  const Events left = proxy_events(proxy_grid(CellRule::left), 0.9999, 2);
  EXPECT_NEAR(left.numbers.at("norm_1")[1].item<double>(), 3.27857, 6e-6);
  EXPECT_NEAR(left.numbers.at("norm_2")[1].item<double>(), 1.87895, 6e-6);
  const Events trapezoid = proxy_events(proxy_grid(CellRule::trapezoid), 1, 2);
  EXPECT_NEAR(trapezoid.numbers.at("norm_1")[0].item<double>(), 3.26846, 2e-5);
  EXPECT_NEAR(trapezoid.numbers.at("norm_2")[0].item<double>(), 1.87259, 2e-5);
}

// The exact density's mean, deviation and quantiles (docs/physics/proxy1d.md) against 1e6 events.
// A `left` cell holds the density of its left end, so inside the range its distribution lags by
// half a step; the mass that this adds at the lower end takes most of it back. Half a step (4.5e-4)
// bounds what remains; the uniform numbers up to 0.9999 shift a quantile by at most 1e-4 / density.
// Five deviations on each of 28 numbers: false alarm 1.6e-5.
TEST(InverseCdf, HasTheProxysMomentsAndQuantiles) {
  constexpr double events = 1e6;
  const std::vector<double> at = {0.05, 0.25, 0.5, 0.75, 0.95};
  const std::vector<std::vector<double>> quantiles = {
      {0.10751, 0.14296, 0.20505, 0.30873, 0.51489}, {0.10684, 0.13901, 0.19532, 0.29010, 0.48395}};
  const std::vector<double> means = {0.24416, 0.23215}, deviations = {0.13126, 0.12214};
  for (const CellRule rule : {CellRule::left, CellRule::trapezoid}) {
    const double coverage = rule == CellRule::left ? 0.9999 : 1;
    const double rounding = 1.1e-5;
    const double shift = rounding + (rule == CellRule::left ? proxy_grid(rule).step() / 2 : 0.0);
    const Events drawn = proxy_events(proxy_grid(rule), coverage, 1000);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto observable = static_cast<std::int64_t>(k);
      const torch::Tensor x = sorted_column(drawn, observable);
      const double deviation = deviations[k];
      EXPECT_NEAR(x.mean().item<double>(), means[k], shift + 5 * deviation / std::sqrt(events));
      const double kurtosis = ((x - x.mean()) / deviation).pow(4).mean().item<double>();
      EXPECT_NEAR(x.std(false).item<double>(), deviation,
                  shift + 5 * deviation * std::sqrt((kurtosis - 1) / (4 * events)));
      const OwnDistribution own(proxy_grid(rule), coverage, observable);
      for (std::size_t i = 0; i < at.size(); ++i) {
        const double density = own.density(quantiles[k][i]);
        EXPECT_NEAR(own.quantile(at[i]), quantiles[k][i], shift + (1 - coverage) / density);
        const double found = x[static_cast<std::int64_t>(at[i] * events)].item<double>();
        EXPECT_NEAR(found, own.quantile(at[i]),
                    5 * std::sqrt(at[i] * (1 - at[i]) / events) / density)
            << "quantile " << at[i] << " of observable " << k;
      }
    }
  }
}

// Largest distance of the empirical distribution function from `own` times sqrt(events).
double kolmogorov(const torch::Tensor& sorted, const OwnDistribution& own) {
  const auto events = static_cast<double>(sorted.size(0));
  double distance = 0;
  for (std::int64_t i = 0; i < sorted.size(0); ++i) {
    const double below = own.below(sorted.data_ptr<double>()[i]);
    distance = std::max({distance, static_cast<double>(i + 1) / events - below,
                         below - static_cast<double>(i) / events});
  }
  return distance * std::sqrt(events);
}

// Kolmogorov: beyond 2.9 with probability 2 exp(-2 * 2.9^2) = 1e-7; four of them: false alarm 4e-7.
TEST(InverseCdf, PassesAKolmogorovSmirnovTestAgainstItsOwnDensity) {
  for (const CellRule rule : {CellRule::left, CellRule::trapezoid})
    for (const std::int64_t observable : {0, 1}) {
      const double coverage = rule == CellRule::left ? 0.9999 : 1;
      const Events drawn = proxy_events(proxy_grid(rule), coverage, 100);
      const double distance = kolmogorov(sorted_column(drawn, observable),
                                         OwnDistribution(proxy_grid(rule), coverage, observable));
      EXPECT_LT(distance, 2.9);
      RecordProperty("kolmogorov", std::to_string(distance));
    }
}

TEST(InverseCdf, DrawsObservablesIndependently) {
  const Events drawn = proxy_events(proxy_grid(CellRule::left), 0.9999, 100);
  const torch::Tensor x = drawn.values.flatten(0, 1).to(torch::kFloat64).t();
  // 1e5 pairs, five deviations of 1 / sqrt(1e5): false alarm 5.7e-7
  EXPECT_LT(std::abs(torch::corrcoef(x)[0][1].item<double>()), 5 / std::sqrt(1e5));
}

TEST(InverseCdf, TakesOneNoiseDimensionAnObservable) {
  Noise noise = noise_of(1, 2, 5);
  const Grid grid = proxy_grid(CellRule::left);
  const Events drawn = sampler_of(grid)(
      table_of(proxy_table(grid, doubles(proxy_truth).to(torch::kFloat32).expand({2, 6}))), noise);
  EXPECT_EQ(noise.dimensions(), 2);
  EXPECT_EQ(drawn.values.sizes(), (std::vector<std::int64_t>{2, 5, 2}));
  EXPECT_FALSE(torch::equal(drawn.values[0], drawn.values[1])) << "each sample has its own numbers";
}

TEST(InverseCdf, DrawsEachSampleFromItsOwnDensity) {
  const Grid grid = grid_of(0, 1, 11, CellRule::trapezoid);
  torch::Tensor table = torch::zeros({2, 1, 11});
  table[0][0][2] = 1;  // between 0.1 and 0.3
  table[1][0][8] = 1;  // between 0.7 and 0.9
  Noise noise = noise_of(1, 2, 500);
  const torch::Tensor x = InverseCdf({grid, 1, {}})(table_of(table), noise).values;
  EXPECT_GE(x[0].min().item<float>(), 0.1F - 1e-6F);
  EXPECT_LE(x[0].max().item<float>(), 0.3F + 1e-6F);
  EXPECT_GE(x[1].min().item<float>(), 0.7F - 1e-6F);
  EXPECT_LE(x[1].max().item<float>(), 0.9F + 1e-6F);
}

// The kernels against LibTorch's operations, in float32 both. They differ by what float32 leaves of a
// cell's width in S, 1e-3 to 5e-3: some 1e-5 of a gradient (seen: 3e-7), less of a position.
TEST(InverseCdf, IsTheSameThroughKernelsAndThroughLibTorch) {
  for (const CellRule rule : {CellRule::left, CellRule::trapezoid}) {
    const Grid grid = proxy_grid(rule);
    const torch::Tensor truth = doubles(proxy_truth).to(torch::kFloat32);
    const torch::Tensor direction = torch::randn({4, 300, 2});
    std::vector<torch::Tensor> values, gradients;
    for (const bool fused : {true, false}) {
      const InverseCdf sampler({grid, 0.9999, {"norm_1", "norm_2"}, fused});
      Noise noise = noise_of(7, 4, 300);
      const torch::Tensor table = proxy_table(grid, truth.expand({4, 6})).detach().requires_grad_();
      const Events events = sampler(table_of(table), noise);
      ((events.values * direction).sum() + events.numbers.at("norm_2").sum()).backward();
      values.push_back(events.values.detach());
      gradients.push_back(table.grad());
    }
    EXPECT_LT((values[0] - values[1]).abs().max().item<double>(), 1e-5);
    EXPECT_LT((gradients[0] - gradients[1]).norm().item<double>(),
              1e-5 * gradients[1].norm().item<double>());
  }
}

TEST(InverseCdf, CanBeDifferentiatedTwiceThroughKernels) {
  const Grid grid = grid_of(0, 1, 50, CellRule::trapezoid);
  std::vector<torch::Tensor> second;
  for (const bool fused : {true, false}) {
    const InverseCdf sampler({grid, 1, {}, fused});
    Noise noise = noise_of(8, 1, 40);
    const torch::Tensor slope = torch::full({1, 1, 1}, 1.5F).requires_grad_();
    const torch::Tensor table = torch::exp(-slope * grid.positions(torch::kFloat32));
    const Events events = sampler(table_of(table), noise);
    const torch::Tensor first =
        torch::autograd::grad({events.values.square().sum()}, {slope}, {}, true, true)[0];
    second.push_back(torch::autograd::grad({first.sum()}, {slope})[0]);
  }
  EXPECT_NE(second[1].item<double>(), 0);
  EXPECT_NEAR(second[0].item<double>(), second[1].item<double>(),
              1e-4 * std::abs(second[1].item<double>()));
}

// Common random numbers on both sides of a central difference, in double precision.
TEST(InverseCdf, HasTheGradientOfFiniteDifferences) {
  for (const CellRule rule : {CellRule::left, CellRule::trapezoid}) {
    const Grid grid = proxy_grid(rule);
    const Noise noise = noise_of(3, 2, 500, 0, torch::kFloat64);
    const auto events_at = [&](const torch::Tensor& parameters) {
      Noise copy = noise;
      return sampler_of(grid, 0.9999)(table_of(proxy_table(grid, parameters.expand({2, 6}))), copy);
    };
    const torch::Tensor truth = doubles(proxy_truth).requires_grad_();
    const Events events = events_at(truth);
    const torch::Tensor direction = torch::randn(events.values.sizes(), torch::kFloat64);
    const torch::Tensor gradient =
        torch::autograd::grad({(events.values * direction).sum()}, {truth}, {}, true)[0];
    const torch::Tensor norm_gradient =
        torch::autograd::grad({events.numbers.at("norm_2").sum()}, {truth})[0];
    for (std::int64_t i = 0; i < 6; ++i) {
      constexpr double step = 1e-6;
      torch::Tensor up = truth.detach().clone(), down = up.clone();
      up[i] += step;
      down[i] -= step;
      const Events above = events_at(up), below = events_at(down);
      const double difference =
          ((above.values - below.values) * direction).sum().item<double>() / (2 * step);
      EXPECT_NEAR(gradient[i].item<double>(), difference, 1e-5 * largest(gradient)) << i;
      const double norm_difference =
          (above.numbers.at("norm_2") - below.numbers.at("norm_2")).sum().item<double>() /
          (2 * step);
      EXPECT_NEAR(norm_gradient[i].item<double>(), norm_difference, 1e-7 * largest(norm_gradient));
    }
  }
}

// For exp(-a x) on [0, 1]: S = (e^{-ax} - e^{-a}) / (1 - e^{-a}), and dx/da = (dS/da) / pdf(x).
TEST(InverseCdf, HasTheContinuumGradientOfAnExponential) {
  const Grid grid = grid_of(0, 1, 2001, CellRule::trapezoid);
  const torch::Tensor a = doubles({1.5}).requires_grad_();
  Noise noise = noise_of(4, 1, 50, 0, torch::kFloat64);
  const torch::Tensor table = torch::exp(-a * grid.positions(torch::kFloat64)).view({1, 1, -1});
  const torch::Tensor x = InverseCdf({grid, 1, {}})(table_of(table), noise).values.flatten();
  for (std::int64_t i = 0; i < 50; ++i) {
    const double found = torch::autograd::grad({x[i]}, {a}, {}, true)[0].item<double>();
    const double at = x[i].item<double>(), e = std::exp(-1.5), ex = std::exp(-1.5 * at);
    const double slope = (-at * ex + e) / (1 - e) - (ex - e) * e / ((1 - e) * (1 - e));
    EXPECT_NEAR(found, slope / (1.5 * ex / (1 - e)), 0.2 * grid.step()) << "at x = " << at;
  }
}

TEST(InverseCdf, IsFlatOutsideTheTable) {
  const Grid grid = grid_of(0, 1, 5, CellRule::left);  // points 0, 0.2, 0.4, 0.6, 0.8
  const auto source = std::make_shared<RecordedNoise>(
      std::vector<torch::Tensor>{torch::tensor({{0.1F, 0.3F, 0.9F}})});
  Noise noise(source, 1, 3);
  const torch::Tensor table = torch::ones({1, 1, 5}).requires_grad_();
  const torch::Tensor x = InverseCdf({grid, 1, {}})(table_of(table), noise).values.flatten();
  // S = 1, 0.8, 0.6, 0.4, 0.2 at the points: u = 0.1 lies below the last
  EXPECT_TRUE(torch::allclose(x, torch::tensor({0.8F, 0.7F, 0.1F}))) << x;
  const torch::Tensor gradient = torch::autograd::grad({x[0]}, {table})[0];
  EXPECT_EQ(largest(gradient), 0.0);
}

TEST(InverseCdf, GivesNoNaNForEmptyCells) {
  for (const CellRule rule : {CellRule::left, CellRule::trapezoid}) {
    const Grid grid = grid_of(0, 1, 12, rule);
    torch::Tensor table = torch::zeros({1, 1, 12});
    for (const std::int64_t i : {3, 4, 8}) table[0][0][i] = 1;
    table.requires_grad_();
    Noise noise = noise_of(6, 1, 5000);
    const torch::Tensor x = InverseCdf({grid, 1, {}})(table_of(table), noise).values;
    ASSERT_TRUE(torch::isfinite(x).all().item<bool>());
    const torch::Tensor gradient = torch::autograd::grad({x.square().sum()}, {table})[0];
    EXPECT_TRUE(torch::isfinite(gradient).all().item<bool>());
    // nothing but the ends of cells that have a mass
    const double step = grid.step();
    const torch::Tensor position = x / step;
    const double first = rule == CellRule::left ? 3 : 2;
    EXPECT_GE(position.min().item<double>(), first - 1e-4);
    EXPECT_LE(position.max().item<double>(), 9 + 1e-4);
    const double gap_low = 5, gap_high = rule == CellRule::left ? 8 : 7;
    const torch::Tensor in_gap = (position > gap_low + 1e-4) & (position < gap_high - 1e-4);
    EXPECT_FALSE(in_gap.any().item<bool>());
  }
}

// Half of the mass sits at the last point, behind an empty cell: events there have no cell of their
// own, and the slope of none is no number.
TEST(InverseCdf, GivesNoNaNBehindAnEmptyLastCell) {
  const Grid grid = grid_of(0, 1, 5, CellRule::left);
  const torch::Tensor table = torch::tensor({{{0.0F, 1.0F, 0.0F, 0.0F, 1.0F}}}).requires_grad_();
  Noise noise = noise_of(6, 1, 100);
  const torch::Tensor x = InverseCdf({grid, 1, {}})(table_of(table), noise).values;
  EXPECT_TRUE(torch::isfinite(x).all().item<bool>());
  EXPECT_FLOAT_EQ(x.max().item<float>(), 0.8F);
  const torch::Tensor gradient = torch::autograd::grad({x.sum()}, {table})[0];
  EXPECT_TRUE(torch::isfinite(gradient).all().item<bool>()) << gradient;
}

TEST(InverseCdf, MultipliesUniformNumbersByTheCoverage) {
  const Grid grid = grid_of(0, 1, 11, CellRule::trapezoid);
  const auto source =
      std::make_shared<RecordedNoise>(std::vector<torch::Tensor>{torch::tensor({{0.2F, 0.9F}})});
  Noise noise(source, 1, 2);
  const torch::Tensor x =
      InverseCdf({grid, 0.5, {}})(table_of(torch::ones({1, 1, 11})), noise).values.flatten();
  EXPECT_TRUE(torch::allclose(x, torch::tensor({0.9F, 0.55F}))) << x;
}

TEST(InverseCdf, RefusesATableOfAnotherGrid) {
  Noise noise = noise_of(1, 2, 5);
  const InverseCdf sampler = sampler_of(proxy_grid(CellRule::left));
  for (const auto& shape : {std::vector<std::int64_t>{2, 2, 999}, {2, 1000}, {2, 1, 1, 1000}})
    EXPECT_EQ(message_of<core::ShapeError>([&] {
                sampler(table_of(torch::ones(shape)), noise);
              }).find("stage 'inverse_cdf'"),
              0U);
}

}  // namespace
}  // namespace sagips::env
