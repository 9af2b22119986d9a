#include "sagips/env/compare/distance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/env/noise_of.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

double ks(const std::vector<double>& a, const std::vector<double>& b,
          const std::vector<double>& a_weights = {}, const std::vector<double>& b_weights = {}) {
  const auto optional = [](const std::vector<double>& w) {
    return w.empty() ? torch::Tensor() : doubles(w);
  };
  return kolmogorov_smirnov({doubles(a), optional(a_weights)}, {doubles(b), optional(b_weights)});
}

TEST(KolmogorovSmirnov, EqualsHandCalculations) {
  EXPECT_NEAR(ks({1, 2, 3}, {1.5, 2.5}), 1.0 / 3, 1e-14);  // after 1: 1/3, 0
  EXPECT_NEAR(ks({3, 1, 2}, {2.5, 1.5}), 1.0 / 3, 1e-14);
  EXPECT_NEAR(ks({1, 2}, {3, 4, 5}), 1, 1e-14);
  EXPECT_NEAR(ks({3, 4, 5}, {1, 2}), 1, 1e-14);
  EXPECT_NEAR(ks({1, 2, 3}, {3, 2, 1}), 0, 1e-14);
}

TEST(KolmogorovSmirnov, ComparesOnlyBehindTies) {
  EXPECT_NEAR(ks({1, 1, 1, 1}, {1}), 0, 1e-14);
  EXPECT_NEAR(ks({1, 1, 2, 2}, {1, 2, 2, 2}), 0.25, 1e-14);
  EXPECT_NEAR(ks({2, 2, 3}, {1, 2, 2, 2}), 1.0 / 3, 1e-14);  // after 2: 2/3, 1
}

TEST(KolmogorovSmirnov, CountsEventsByWeight) {
  EXPECT_NEAR(ks({1, 2}, {1, 2}, {3, 1}), 0.25, 1e-14);
  EXPECT_NEAR(ks({1, 2}, {1, 2}, {3, 1}, {6, 2}), 0, 1e-14);
  EXPECT_NEAR(ks({1, 2, 2}, {1, 2}, {1, 0.5, 0.5}), 0, 1e-14);
}

TEST(KolmogorovSmirnov, TakesSingleAndDoublePrecisionTogether) {
  EXPECT_NEAR(kolmogorov_smirnov({torch::tensor({1.0F, 2.0F})}, {doubles({1, 2})}), 0, 1e-14);
}

double direct_energy_distance(const EventRows& a, const EventRows& b) {
  const auto mean = [](const EventRows& x, const EventRows& y, bool same) {
    const torch::Tensor of_x = x.shares(), of_y = y.shares();
    double sum = 0, shares = 0;
    for (std::int64_t i = 0; i < x.size(); ++i)
      for (std::int64_t j = 0; j < y.size(); ++j) {
        if (same && i == j) continue;
        const double share = (of_x[i] * of_y[j]).item<double>();
        sum += share * (x.values[i] - y.values[j]).norm().item<double>();
        shares += share;
      }
    return sum / shares;
  };
  return 2 * mean(a, b, false) - mean(a, a, true) - mean(b, b, true);
}

TEST(EnergyDistance, EqualsADirectDoubleLoop) {
  torch::manual_seed(3);
  const torch::Tensor a = torch::randn({40, 3}, torch::kFloat64);
  const torch::Tensor b = torch::randn({31, 3}, torch::kFloat64) + 0.5;
  const torch::Tensor weights = torch::rand({40});
  for (const EventRows& rows : {EventRows{a}, EventRows{a, weights}}) {
    EXPECT_NEAR(energy_distance(rows, {b}), direct_energy_distance(rows, {b}), 1e-7);
    EXPECT_NEAR(energy_distance({b}, rows), direct_energy_distance({b}, rows), 1e-7);
  }
}

TEST(EnergyDistance, DoesNotSeeEventsThatWeighNothing) {
  torch::manual_seed(5);
  const torch::Tensor a = torch::randn({30, 2}), b = torch::randn({40, 2});
  const torch::Tensor more = torch::cat({a, torch::full({5, 2}, 100.0)});
  const torch::Tensor weights = torch::cat({torch::ones({30}), torch::zeros({5})});
  EXPECT_NEAR(energy_distance({more, weights}, {b}), energy_distance({a}, {b}), 1e-7);
}

// Over 200 pairs of samples from one distribution the unbiased estimate scatters around zero; its
// mean lies within 5 of its own errors, false alarm 5.7e-7 (the estimates are skewed, their mean
// of 200 is close to normal).
TEST(EnergyDistance, IsZeroOnAverageForEqualDistributions) {
  torch::manual_seed(4);
  std::vector<double> found;
  for (int i = 0; i < 200; ++i)
    found.push_back(energy_distance({torch::randn({50, 2})}, {torch::randn({60, 2})}));
  const torch::Tensor all = doubles(found);
  EXPECT_LT(std::abs(all.mean().item<double>()), 5 * all.std().item<double>() / std::sqrt(200.0));
  // shifted by one deviation in one of two observables: far beyond that scatter
  EXPECT_GT(energy_distance({torch::randn({50, 2})}, {torch::randn({60, 2}) + 1}),
            10 * all.std().item<double>());
}

}  // namespace
}  // namespace sagips::env
