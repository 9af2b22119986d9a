#include "sagips/optim/likelihood/likelihood.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/env/densities/tabulated_density.hpp"
#include "sagips/env/samplers/inverse_cdf.hpp"
#include "sagips/optim/estimate.hpp"
#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "tests/core/message_of.hpp"
#include "tests/env/noise_of.hpp"

namespace sagips::optim {
namespace {

using testing::doubles;
using testing::message_of;

env::Parameter parameter(const std::string& name, double low, double high, double truth) {
  env::Parameter made;
  made.name = name;
  made.low = low;
  made.high = high;
  made.truth = truth;
  return made;
}

/// N exp(-a x) on [0, 1] in the order a, N: events fix a, the norm N (1 - exp(-a)) / a fixes N.
struct Exponential {
  env::Grid grid{.low = 0, .high = 1, .points = 1001, .rule = env::CellRule::trapezoid};

  torch::Tensor table(const torch::Tensor& p) const {
    const torch::Tensor x = grid.positions(p.options().requires_grad(false));
    const auto column = [&](std::int64_t i) { return p.select(1, i).unsqueeze(1); };
    return (column(1) * torch::exp(-column(0) * x)).unsqueeze(1);
  }
  torch::Tensor operator()(torch::Tensor p, env::Noise&) const { return table(p); }
};

env::Environment environment_of(std::vector<env::Parameter> parameters, std::int64_t events,
                                std::uint64_t seed = 1) {
  const Exponential theory;
  const env::Pipeline pipeline{theory, env::InverseCdf({theory.grid, 1, {"norm"}})};
  env::Environment environment;
  environment.parameters = env::ParameterSet(std::move(parameters));
  data::Dataset toys = env::toy_data(pipeline, environment.parameters.truth(), events, {"x"},
                                     core::RandomStream(seed, "toys"));
  environment.channels.push_back(
      {"events",
       pipeline,
       std::move(toys),
       {},
       env::TabulatedDensity([theory](const torch::Tensor& p) { return theory.table(p); },
                             theory.grid, {"norm"})});
  return environment;
}

env::Environment two_parameters(std::int64_t events) {
  return environment_of({parameter("a", 0.5, 8, 3), parameter("N", 0.1, 4, 2)}, events);
}

env::Environment one_parameter(std::int64_t events, double low = 0.5, double high = 8) {
  env::Parameter norm = parameter("N", 0.1, 4, 2);
  norm.fixed = 2;
  return environment_of({parameter("a", low, high, 3), norm}, events);
}

// Fisher information of one event of the exponential on [0, 1]: the variance of x.
double variance_of_x(double a) {
  return 1 / (a * a) - std::exp(-a) / std::pow(1 - std::exp(-a), 2);
}

TEST(CramerRao, EqualsTheBoundOfATruncatedExponential) {
  const env::Environment environment = one_parameter(10);
  for (const double events : {1e2, 1e6}) {
    const std::vector<double> errors = cramer_rao_errors(environment, ReferenceUse::ignore,
                                                         environment.parameters.truth(), events);
    EXPECT_NEAR(errors[0] * std::sqrt(events * variance_of_x(3)), 1, 1e-5);
    EXPECT_EQ(errors[1], 0.0) << "fixed";
  }
}

// With the norm known, N = norm a / (1 - exp(-a)), so its error is dN/da times that of a.
TEST(CramerRao, CarriesErrorsAlongAnExactNorm) {
  const env::Environment environment = two_parameters(10);
  const std::vector<double> errors =
      cramer_rao_errors(environment, ReferenceUse::exact, environment.parameters.truth(), 1e4);
  EXPECT_NEAR(errors[0] * std::sqrt(1e4 * variance_of_x(3)), 1, 1e-5);
  const double e = std::exp(-3.0);
  const double slope = 2 * (1 / 3.0 - e / (1 - e));
  EXPECT_NEAR(errors[1] / errors[0], slope, 1e-5);
}

TEST(CramerRao, RefusesADirectionThatEventsDoNotFix) {
  const env::Environment environment = two_parameters(10);
  EXPECT_NE(message_of<core::StateError>([&] {
              cramer_rao_errors(environment, ReferenceUse::ignore, environment.parameters.truth(),
                                1e4);
            }).find("a direction is not identifiable from these data, moving along (N) changes"),
            std::string::npos);
}

TEST(Likelihood, HasTheDerivativesOfFiniteDifferences) {
  const env::Environment environment = two_parameters(2'000);
  const Likelihood likelihood(environment, ReferenceUse::exact);
  EXPECT_EQ(likelihood.events(), 2'000.0);
  EXPECT_EQ(likelihood.constraints(), 1);
  const torch::Tensor theta = doubles({0.3, -0.4}), multipliers = doubles({17});
  const Likelihood::Point point = likelihood.at(theta);
  const torch::Tensor hessian = likelihood.hessian(theta, multipliers);
  const auto lagrangian_slope = [&](const Likelihood::Point& p) {
    return p.gradient + multipliers.matmul(p.jacobian);
  };
  for (std::int64_t i = 0; i < 2; ++i) {
    constexpr double step = 1e-5;
    torch::Tensor up = theta.clone(), down = theta.clone();
    up[i] += step;
    down[i] -= step;
    const Likelihood::Point above = likelihood.at(up), below = likelihood.at(down);
    EXPECT_NEAR(point.gradient[i].item<double>(), (above.value - below.value) / (2 * step), 1e-4);
    EXPECT_NEAR(point.jacobian[0][i].item<double>(),
                (above.constraints - below.constraints).item<double>() / (2 * step), 1e-8);
    const torch::Tensor row = (lagrangian_slope(above) - lagrangian_slope(below)) / (2 * step);
    EXPECT_TRUE(torch::allclose(hessian[i], row, 1e-6, 1e-5)) << hessian[i] << row;
  }
}

TEST(Likelihood, CountsAWeightLikeThatManyEvents) {
  env::Environment single = one_parameter(50), weighted = single;
  weighted.channels[0].training.weights = torch::full({50}, 2.0F);
  const Likelihood plain(single, ReferenceUse::ignore), heavy(weighted, ReferenceUse::ignore);
  EXPECT_EQ(heavy.events(), 100.0);
  const torch::Tensor theta = doubles({0.2});
  EXPECT_NEAR(heavy.at(theta).value, 2 * plain.at(theta).value, 1e-9);
}

TEST(Likelihood, AddsItsChannels) {
  env::Environment both = one_parameter(50);
  const double one = Likelihood(both, ReferenceUse::exact).at(doubles({0.2})).value;
  both.channels.push_back(both.channels[0]);
  const Likelihood likelihood(both, ReferenceUse::exact);
  EXPECT_NEAR(likelihood.at(doubles({0.2})).value, 2 * one, 1e-9);
  EXPECT_EQ(likelihood.constraints(), 2);
}

TEST(Likelihood, RefusesAChannelWithoutADensity) {
  env::Environment environment = one_parameter(50);
  environment.channels[0].density.reset();
  EXPECT_NE(message_of<core::ConfigError>([&] {
              Likelihood(environment, ReferenceUse::exact);
            }).find("channel 'events' offers no density"),
            std::string::npos);
}

TEST(Likelihood, WantsAllReferenceNumbersOrNone) {
  env::Environment environment = one_parameter(50);
  const Exponential theory;
  environment.channels[0].density = env::TabulatedDensity(
      [theory](const torch::Tensor& p) {
        return theory.table(p).expand({-1, 2, -1});
      },
      theory.grid, std::vector<std::string>{"norm", "other"});
  environment.channels[0].training.values = environment.channels[0].training.values.expand({-1, 2});
  EXPECT_NE(message_of<core::ConfigError>([&] {
              Likelihood(environment, ReferenceUse::exact);
            }).find("only 1 of the numbers norm, other are given"),
            std::string::npos);
  environment.channels[0].training.reference.clear();
  EXPECT_EQ(Likelihood(environment, ReferenceUse::exact).constraints(), 0);
}

// Without constraints the inverse; along x + y = const. only (1, -1) / sqrt(2) is left, H = 2.
TEST(ConstrainedCovariance, EqualsHandCalculations) {
  const torch::Tensor none = torch::zeros({0, 2}, torch::kFloat64);
  const torch::Tensor hessian = torch::tensor({{4.0, 1.0}, {1.0, 2.0}}, torch::kFloat64);
  EXPECT_TRUE(torch::allclose(constrained_covariance(hessian, none).matmul(hessian),
                              torch::eye(2, torch::kFloat64)));
  const torch::Tensor along = constrained_covariance(hessian, torch::ones({1, 2}, torch::kFloat64));
  EXPECT_TRUE(
      torch::allclose(along, torch::tensor({{0.25, -0.25}, {-0.25, 0.25}}, torch::kFloat64)));
}

TEST(ConstrainedCovariance, RefusesWhatIsNoMinimum) {
  const torch::Tensor none = torch::zeros({0, 2}, torch::kFloat64);
  for (const double second : {0.0, -1.0, std::nan("")})
    EXPECT_THROW(constrained_covariance(torch::diag(doubles({1, second})), none), core::StateError);
  EXPECT_NO_THROW(constrained_covariance(torch::diag(doubles({1, -1})),
                                         torch::tensor({{0.0, 1.0}}, torch::kFloat64)))
      << "a constraint may hold the direction";
}

TEST(PhysicalCovariance, FollowsTheSlopeOfTheLogit) {
  const env::ParameterSet set({parameter("a", 0, 4, 1), parameter("N", 0, 2, 1)});
  const torch::Tensor covariance = torch::tensor({{1.0, 0.5}, {0.5, 2.0}}, torch::kFloat64);
  // range g (1 - g): 4 * 3/16 at g = 1/4, 2 / 4 at g = 1/2
  const torch::Tensor found = physical_covariance(set, doubles({-std::log(3), 0}), covariance);
  const torch::Tensor expected = torch::tensor({{0.5625, 0.1875}, {0.1875, 0.5}}, torch::kFloat64);
  EXPECT_TRUE(torch::allclose(found, expected)) << found;
}

FitConfig events_alone() {
  FitConfig config;
  config.reference = ReferenceUse::ignore;
  return config;
}

// The likelihood's maximum: mean of x = 1/a - 1/(e^a - 1).
double analytic_fit(const torch::Tensor& x) {
  const double mean = x.to(torch::kFloat64).mean().item<double>();
  double low = 0.5, high = 8;
  while (high - low > 1e-12) {
    const double a = (low + high) / 2;
    (1 / a - 1 / std::expm1(a) > mean ? low : high) = a;
  }
  return low;
}

TEST(Fit, FindsTheAnalyticMaximumAndItsCurvature) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    env::Parameter norm = parameter("N", 0.1, 4, 2);
    norm.fixed = 2;
    const env::Environment environment =
        environment_of({parameter("a", 0.5, 8, 3), norm}, 5'000, seed);
    const FitResult fit = fit_maximum_likelihood(environment, events_alone(), 1);
    const double expected = analytic_fit(environment.channels[0].training.values);
    const double error = 1 / std::sqrt(5'000 * variance_of_x(expected));
    EXPECT_NEAR(fit.values[0], expected, 1e-3 * error);
    EXPECT_NEAR(fit.errors[0], error, 1e-4 * error);
    EXPECT_EQ(fit.values[1], 2.0);
    EXPECT_EQ(fit.errors[1], 0.0);
    EXPECT_EQ(fit.covariance.sizes(), (std::vector<std::int64_t>{1, 1}));
    EXPECT_EQ(fit.events, 5'000.0);
    EXPECT_LT(fit.edm, 1e-6);
    EXPECT_TRUE(fit.at_limit.empty());
  }
}

TEST(Fit, HoldsAnExactNorm) {
  const env::Environment environment = two_parameters(5'000);
  const FitResult fit = fit_maximum_likelihood(environment, {}, 1);
  const double a = analytic_fit(environment.channels[0].training.values);
  EXPECT_NEAR(fit.values[0], a, 1e-3 * fit.errors[0]);
  // trapezoid sums lie step^2 a^2 / 12 = 8e-7 above the integral on both sides
  const double norm = 2 * (1 - std::exp(-3.0)) / 3;
  EXPECT_NEAR(fit.values[1] * (1 - std::exp(-fit.values[0])) / fit.values[0] / norm, 1, 1e-6);
}

// Norm and N known: a is known too, whatever the events say.
TEST(Fit, IsCertainWhereReferenceNumbersFixEverything) {
  const FitResult fit = fit_maximum_likelihood(one_parameter(100), {}, 1);
  EXPECT_NEAR(fit.values[0], 3, 1e-5);
  EXPECT_EQ(fit.errors[0], 0.0);
}

TEST(Fit, RefusesMoreReferenceNumbersThanFreeParameters) {
  env::Environment environment = one_parameter(100);
  environment.channels.push_back(environment.channels[0]);
  EXPECT_NE(message_of<core::ConfigError>([&] {
              fit_maximum_likelihood(environment, {}, 1);
            }).find("2 exactly known numbers constrain 1 free parameters"),
            std::string::npos);
}

TEST(Fit, RefusesToGuessWhatEventsDoNotFix) {
  const env::Environment environment = two_parameters(1'000);
  FitConfig config = events_alone();
  config.starts = 2;
  EXPECT_NE(message_of<core::Error>([&] {
              fit_maximum_likelihood(environment, config, 1);
            }).find("give reference numbers"),
            std::string::npos);
}

TEST(Fit, NamesParametersWithinTwoErrorsOfAnEnd) {
  const FitResult fit = fit_maximum_likelihood(one_parameter(400, 0.5, 3.4), events_alone(), 1);
  EXPECT_EQ(fit.at_limit, std::vector<std::string>{"a"})
      << fit.values[0] << " +- " << fit.errors[0];
}

}  // namespace
}  // namespace sagips::optim
