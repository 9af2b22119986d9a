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
#include "tests/optim/small_environment.hpp"

namespace sagips::optim {
namespace {

using testing::doubles;
using testing::message_of;
constexpr auto parameter = testing::small_parameter;

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

TEST(CramerRao, LeavesOutWhatEventsDoNotFix) {
  const env::Environment environment = two_parameters(10);
  const std::vector<double> errors =
      cramer_rao_errors(environment, ReferenceUse::ignore, environment.parameters.truth(), 1e4);
  EXPECT_NEAR(errors[0] * std::sqrt(1e4 * variance_of_x(3)), 1, 1e-5);
  EXPECT_TRUE(std::isnan(errors[1]));
}

TEST(Likelihood, HasTheDerivativesOfFiniteDifferences) {
  const env::Environment environment = two_parameters(2'000);
  const Likelihood likelihood(environment, ReferenceUse::exact);
  EXPECT_EQ(likelihood.events(), 2'000.0);
  EXPECT_EQ(likelihood.constraints(), 1);
  const torch::Tensor theta = doubles({0.6, 0.4}), multipliers = doubles({17});
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

TEST(Likelihood, KnowsNoCommonFactorOfTheWeights) {
  env::Environment single = one_parameter(50);
  const Likelihood plain(single, ReferenceUse::ignore);
  const torch::Tensor theta = doubles({0.2});
  for (const float factor : {1e-4F, 2.0F}) {
    env::Environment weighted = single;
    data::Dataset& data = weighted.channels[0].training;
    // events of weight zero say nothing either
    data.weights = torch::cat({torch::full({50}, factor), torch::zeros({10})});
    data.values = torch::cat({data.values, data.values.slice(0, 0, 10)});
    const Likelihood same(weighted, ReferenceUse::ignore);
    EXPECT_EQ(same.events(), 50.0);
    EXPECT_FALSE(same.is_weighted());
    EXPECT_EQ(same.at(theta).value, plain.at(theta).value);
  }
}

// A mean by weights w has the variance sum w^2 (x - mean)^2 / (sum w)^2, and -ln L of an exponential is a
// function of the mean alone; here on [0, 1], where its slope has the variance of x.
TEST(Likelihood, ErrorsAreThoseOfAWeightedMean) {
  env::Environment environment = one_parameter(4'000);
  data::Dataset& data = environment.channels[0].training;
  const torch::Tensor x = data.values.select(1, 0).to(torch::kFloat64);
  // more where x is large, and some negative: errors of Kish's number of events would be others
  const torch::Tensor weights =
      torch::where(torch::arange(4'000) % 10 == 0, -1.0, 1.0).to(torch::kFloat64) * (0.2 + 2 * x);
  data.weights = weights.to(torch::kFloat32);
  const FitResult fit = fit_maximum_likelihood(environment, {.reference = ReferenceUse::ignore}, 1);
  const double mean = ((weights * x).sum() / weights.sum()).item<double>();
  const double variance =
      ((weights * (x - mean)).square().sum() / weights.sum().square()).item<double>();
  const double a = fit.values[0];
  EXPECT_NEAR(1 / a - std::exp(-a) / (1 - std::exp(-a)), mean, 1e-5);
  EXPECT_NEAR(fit.errors[0] / (std::sqrt(variance) / variance_of_x(a)), 1, 1e-3);
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
TEST(Uncertainty, EqualsHandCalculations) {
  const torch::Tensor none = torch::zeros({0, 2}, torch::kFloat64);
  const torch::Tensor information = torch::tensor({{4.0, 1.0}, {1.0, 2.0}}, torch::kFloat64);
  EXPECT_TRUE(torch::allclose(uncertainty_of(information, none).covariance.matmul(information),
                              torch::eye(2, torch::kFloat64)));
  const Uncertainty along = uncertainty_of(information, torch::ones({1, 2}, torch::kFloat64));
  EXPECT_TRUE(torch::allclose(along.covariance,
                              torch::tensor({{0.25, -0.25}, {-0.25, 0.25}}, torch::kFloat64)));
  EXPECT_EQ(along.open.size(0), 0);
}

TEST(Uncertainty, CallsADirectionOpenWhoseErrorIsLongerThanTheRange) {
  const torch::Tensor none = torch::zeros({0, 2}, torch::kFloat64);
  for (const double second : {0.0, -1.0, 0.9}) {
    const Uncertainty found = uncertainty_of(torch::diag(doubles({4, second})), none);
    EXPECT_TRUE(torch::allclose(found.covariance, torch::diag(doubles({0.25, 0})))) << second;
    EXPECT_TRUE(torch::allclose(found.open.abs(), torch::tensor({{0.0, 1.0}}, torch::kFloat64)));
  }
  EXPECT_EQ(uncertainty_of(torch::diag(doubles({4, 1.1})), none).open.size(0), 0);
  EXPECT_EQ(
      uncertainty_of(torch::diag(doubles({4, -1})), torch::tensor({{0.0, 1.0}}, torch::kFloat64))
          .open.size(0),
      0)
      << "a constraint may hold the direction";
}

// Errors 0.1 and 0.2 of the range on [0, 4] and [0, 2]; the second sits at its end, and its parabola
// would have been lowest at -0.1: the limit is at -0.1 + sqrt(0.01 + 2.706 * 0.04) of the range.
TEST(Estimate, TellsValuesErrorsAndLimits) {
  const env::ParameterSet set({parameter("a", 0, 4, 1), parameter("N", 0, 2, 1)});
  const torch::Tensor none = torch::zeros({0, 2}, torch::kFloat64);
  const Estimate found = estimate_at(set, doubles({0.5, 0}), doubles({0.5, -0.1}),
                                     uncertainty_of(torch::diag(doubles({100, 25})), none));
  EXPECT_EQ(found.values, (std::vector<double>{2, 0}));
  EXPECT_NEAR(found.errors[0], 0.4, 1e-12);
  EXPECT_NEAR(found.errors[1], 0.4, 1e-12);
  EXPECT_FALSE(found.lower_limits[0] || found.upper_limits[0] || found.lower_limits[1]);
  ASSERT_TRUE(found.upper_limits[1].has_value());
  EXPECT_NEAR(*found.upper_limits[1], 2 * (std::sqrt(0.01 + 2.706 * 0.04) - 0.1), 1e-12);
}

// A profile that is twice as wide above as below, and ends at its range.
TEST(Estimate, TakesTheSidesOfAProfile) {
  const env::ParameterSet set({parameter("a", 0, 4, 1), parameter("N", 0, 2, 1)});
  const torch::Tensor none = torch::zeros({0, 2}, torch::kFloat64), at = doubles({0.1, 0.8});
  Estimate found = estimate_at(set, at, at, uncertainty_of(torch::diag(doubles({100, 25})), none));
  const auto growth = [&](std::int64_t i, double value, const auto&) {
    const double away = value - at[i].item<double>(), side = away > 0 ? 2 : 1;
    return std::pow(away / (i == 0 ? 0.08 : 0.2) / side, 2);
  };
  add_profile(found, set, at, doubles({0.1, 0.2}), {false, false}, growth);
  EXPECT_NEAR(found.asymmetric[0]->below, 4 * 0.08, 4 * 0.08 * 0.03);
  EXPECT_NEAR(found.asymmetric[0]->above, 4 * 0.16, 4 * 0.16 * 0.03);
  EXPECT_NEAR(*found.upper_limits[0], 4 * (0.1 + 1.645 * 0.16), 4 * 1.645 * 0.16 * 0.03);
  EXPECT_NEAR(found.asymmetric[1]->below, 2 * 0.2, 2 * 0.2 * 0.03);
  EXPECT_NEAR(found.asymmetric[1]->above, 2 * 0.2, 1e-4) << "the range ends there";
  EXPECT_NEAR(*found.lower_limits[1], 2 * (0.8 - 1.645 * 0.2), 2 * 1.645 * 0.2 * 0.03);
  EXPECT_EQ(found.error_towards(0, 3), found.asymmetric[0]->above);
  EXPECT_EQ(found.error_towards(0, 0), found.asymmetric[0]->below);
  EXPECT_TRUE(found.warnings.empty());
}

// A place that is known to 0.01 of its range has 50 intervals there, whose largest chance reaches some 2 ln 50: what
// rises by 4 is a look-alike among others, what rises by 25 is none. The share is profiled again, wherever it lies.
TEST(Estimate, LeavesAPlaceOpenThatHasLookAlikes) {
  const env::ParameterSet set({parameter("share", 0, 1, 0.1), parameter("place", 0, 10, 4)});
  const torch::Tensor none = torch::zeros({0, 2}, torch::kFloat64), at = doubles({0.02, 0.4});
  for (const double plateau : {4.0, 25.0}) {
    Estimate found =
        estimate_at(set, at, at, uncertainty_of(torch::diag(doubles({1e4, 1e4})), none));
    const auto growth = [&](std::int64_t i, double value, const std::vector<std::int64_t>& vague) {
      const double error = i == 0 && !vague.empty() ? 0.02 : 0.01;
      return std::min(std::pow((value - at[i].item<double>()) / error, 2), i == 1 ? plateau : 1e9);
    };
    add_profile(found, set, at, doubles({0.01, 0.01}), {false, true}, growth, {false, true});
    EXPECT_EQ(found.open[1], plateau < 10);
    EXPECT_EQ(found.warnings.size(), plateau < 10 ? 1U : 0U);
    EXPECT_TRUE(found.open_directions.empty());
    EXPECT_NEAR(found.asymmetric[0]->above, plateau < 10 ? 0.02 : 0.01, 3e-4);
  }
}

// Slopes vanish at the best values of both; one of them is fixed farther away, and ends at its range.
TEST(Estimate, TakesTheIntervalOfAProfileWhereSlopesVanish) {
  const env::ParameterSet set({parameter("a", 0, 4, 1), parameter("b", 0, 2, 1)});
  const torch::Tensor none = torch::zeros({0, 2}, torch::kFloat64), at = doubles({0.01, 0.5});
  Estimate found =
      estimate_at(set, at, at, uncertainty_of(torch::zeros({2, 2}, torch::kFloat64), none));
  ASSERT_EQ(found.open_directions.size(), 2U);
  add_profile(found, set, at, doubles({0, 0}), {true, true},
              [&](std::int64_t i, double value, const auto&) {
                return i == 0 ? std::pow((value - 0.01) / 0.1, 4) : 0.0;
              });
  EXPECT_EQ(found.open, (std::vector<bool>{false, true}));
  EXPECT_EQ(found.open_directions, std::vector<std::string>{"b"});
  ASSERT_TRUE(found.asymmetric[0].has_value());
  EXPECT_NEAR(found.asymmetric[0]->above, 4 * 0.1, 0.02);
  ASSERT_TRUE(found.upper_limits[0].has_value());
  EXPECT_NEAR(*found.upper_limits[0], 4 * (0.01 + 0.1 * std::pow(2.706, 0.25)), 0.02);
  EXPECT_NEAR(found.covariance[0][0].item<double>(), std::pow(found.errors[0], 2), 1e-9);
}

// Above, chi2 grows by 1 every 0.05 of the range: by 4 after four sides. Below it is a parabola.
TEST(Estimate, SaysWhereAProfileFlattens) {
  const env::ParameterSet set({parameter("a", 0, 4, 1)});
  const torch::Tensor none = torch::zeros({0, 1}, torch::kFloat64), at = doubles({0.4});
  Estimate found = estimate_at(set, at, at, uncertainty_of(torch::diag(doubles({625})), none));
  add_profile(found, set, at, doubles({0.04}), {false},
              [](std::int64_t, double value, const auto&) {
                const double sides = (value - 0.4) / 0.05;
                return sides > 0 ? sides : sides * sides;
              });
  ASSERT_EQ(found.warnings.size(), 1U);
  const std::string words = "the 95 % interval of a reaches up to ";
  EXPECT_EQ(found.warnings[0].code, "flat-profile");
  ASSERT_EQ(found.warnings[0].text.rfind(words, 0), 0U) << found.warnings[0].text;
  EXPECT_NEAR(std::stod(found.warnings[0].text.substr(words.size())), 2.4, 0.03);
}

TEST(Estimate, StepsToTheMinimumWithinTheRanges) {
  const torch::Tensor information = torch::tensor({{4.0, 2.0}, {2.0, 4.0}}, torch::kFloat64);
  const torch::Tensor unit = doubles({0.5, 0.5}), all = torch::arange(2);
  const auto step = [&](const torch::Tensor& slope, const torch::Tensor& movable) {
    return numbers_of(step_in_ranges(information, slope, unit, movable, RangeEnds(2)));
  };
  // the minimum of 2 x^2 + 2 x y + 2 y^2 + s x + t y
  EXPECT_NEAR(step(doubles({-1.2, 0}), all)[0], 0.4, 1e-12);
  EXPECT_NEAR(step(doubles({-1.2, 0}), all)[1], -0.2, 1e-12);
  EXPECT_NEAR(step(doubles({-2.4, 0}), all)[0], 0.5, 1e-5) << "the end";
  EXPECT_NEAR(step(doubles({-2.4, 0}), all)[1], -0.25, 1e-5) << "follows what the end lets be";
  EXPECT_EQ(step(doubles({-1.2, 0}), torch::tensor({1}))[0], 0);
}

TEST(Estimate, NamesWhatTheDataLeaveOpen) {
  const env::ParameterSet set(
      {parameter("a", 0, 4, 1), parameter("b", 0, 2, 1), parameter("c", 0, 1, 0.5)});
  // only 4 a - 2 b in units of the ranges is known, and c
  const torch::Tensor information = torch::tensor(
      {{400.0, -200.0, 0.0}, {-200.0, 100.0, 0.0}, {0.0, 0.0, 100.0}}, torch::kFloat64);
  const torch::Tensor none = torch::zeros({0, 3}, torch::kFloat64);
  const Estimate found = estimate_at(set, doubles({0.5, 0.5, 0.5}), doubles({0.5, 0.5, 0.5}),
                                     uncertainty_of(information, none));
  EXPECT_EQ(found.open, (std::vector<bool>{true, true, false}));
  EXPECT_TRUE(std::isnan(found.errors[0]) && std::isnan(found.errors[1]));
  EXPECT_NEAR(found.errors[2], 0.1, 1e-9);
  // a moves by 4 * 1, b by 2 * 2
  EXPECT_TRUE(found.open_directions == std::vector<std::string>{"a + b"} ||
              found.open_directions == std::vector<std::string>{"-a - b"})
      << found.open_directions[0];
}

TEST(LogitCovariance, FollowsTheSlopeOfTheLogit) {
  const env::ParameterSet set({parameter("a", 0, 4, 1), parameter("N", 0, 2, 1)});
  const torch::Tensor covariance =
      torch::tensor({{0.5625, 0.1875}, {0.1875, 0.5}}, torch::kFloat64);
  // range g (1 - g): 4 * 3/16 at g = 1/4, 2 / 4 at g = 1/2
  const torch::Tensor found = logit_covariance(set, doubles({-std::log(3), 0}), covariance);
  const torch::Tensor expected = torch::tensor({{1.0, 0.5}, {0.5, 2.0}}, torch::kFloat64);
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
    EXPECT_FALSE(fit.lower_limits[0] || fit.upper_limits[0]);
    EXPECT_FALSE(fit.asymmetric[0]) << "5,000 events leave a parabola";
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

TEST(Fit, AnswersTheRestWhereEventsLeaveAParameterOpen) {
  const env::Environment environment = two_parameters(1'000);
  const FitResult fit = fit_maximum_likelihood(environment, events_alone(), 1);
  EXPECT_NEAR(fit.values[0], analytic_fit(environment.channels[0].training.values),
              1e-2 * fit.errors[0]);
  EXPECT_EQ(fit.open, (std::vector<bool>{false, true}));
  EXPECT_EQ(fit.open_directions, std::vector<std::string>{"N"});
}

TEST(Fit, StatesALimitWithinTwoErrorsOfAnEnd) {
  const env::Environment environment = one_parameter(400, 0.5, 3.4);
  const FitResult fit = fit_maximum_likelihood(environment, events_alone(), 1);
  ASSERT_TRUE(fit.lower_limits[0].has_value()) << fit.values[0] << " +- " << fit.errors[0];
  EXPECT_NEAR(*fit.lower_limits[0], fit.values[0] - 1.645 * fit.errors[0], 1e-2 * fit.errors[0]);
}

// The events want a = 3; the range ends at 2.5, some four errors below. There -ln L still falls, and the
// limit lies where it has grown by 2.706 / 2.
TEST(Fit, AnswersAtTheEndOfARange) {
  env::Environment environment = one_parameter(5'000);
  std::vector<env::Parameter> parameters = environment.parameters.all();
  parameters[0].high = 2.5;
  parameters[0].truth.reset();
  environment.parameters = env::ParameterSet(parameters);
  const FitResult fit = fit_maximum_likelihood(environment, events_alone(), 1);
  EXPECT_NEAR(fit.values[0], 2.5, 1e-5);
  ASSERT_TRUE(fit.lower_limits[0].has_value());
  const Likelihood likelihood(environment, ReferenceUse::ignore);
  const auto value = [&](double a) {
    return likelihood.at(environment.parameters.unit_from_physical(doubles({a, 2}))).value;
  };
  EXPECT_NEAR(value(*fit.lower_limits[0]) - value(2.5), 2.706 / 2, 0.02);
}

// 10 events tell a with an error that leaves its range below: the interval ends there, and above where
// -ln L has grown by 1/2.
TEST(Fit, TakesItsIntervalFromTheProfileWhereThatIsNoParabola) {
  const env::Environment environment = one_parameter(10, 2.9, 8);
  const FitResult fit = fit_maximum_likelihood(environment, events_alone(), 1);
  ASSERT_TRUE(fit.asymmetric[0].has_value()) << fit.values[0] << " +- " << fit.errors[0];
  const Likelihood likelihood(environment, ReferenceUse::ignore);
  const auto growth = [&](double a) {
    const auto value = [&](double at) {
      return likelihood.at(environment.parameters.unit_from_physical(doubles({at, 2}))).value;
    };
    return value(a) - value(fit.values[0]);
  };
  const double above = fit.values[0] + fit.asymmetric[0]->above,
               below = fit.values[0] - fit.asymmetric[0]->below;
  EXPECT_NEAR(growth(above), 0.5, 0.02);
  EXPECT_NEAR(below, 2.9, 1e-4);
  EXPECT_LT(growth(below), 0.5);
  EXPECT_EQ(fit.error_towards(0, 7.9), fit.asymmetric[0]->above);
  EXPECT_EQ(fit.error_towards(0, 2.9), fit.asymmetric[0]->below);
}

}  // namespace
}  // namespace sagips::optim
