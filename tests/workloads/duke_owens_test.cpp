#include "workloads/duke_owens/duke_owens.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "tests/core/message_of.hpp"
#include "workloads/duke_owens/theory.hpp"

namespace sagips::workloads {
namespace {

using duke_owens::Target;
using duke_owens::Theory;

env::Environment environment_of(std::int64_t toys) {
  const auto workload = duke_owens_workload().make();
  problem::DataSettings settings;
  settings.toy_events = toys;
  return problem::load_data(*workload, settings, 1).all();
}

torch::Tensor truth() {
  std::vector<double> values;
  for (const env::Parameter& parameter : duke_owens_workload().make()->parameters())
    values.push_back(*parameter.toy);
  return torch::tensor(values, torch::kFloat64);
}

// By hand at Q2 = 4 GeV^2 (s = 0) and x = 0.1, y = 4 / (0.1 * 140^2):
// x (u + d) = 3 / (B(0.419, 4.46) (1 + 4.4 * 0.419 / 4.879)) 0.1^0.419 0.9^3.46 1.44
// x d = 1 / B(0.763, 5) 0.1^0.763 0.9^4
TEST(DukeOwens, HasThePublishedDensitiesAtTheStartingScale) {
  const env::Plane plane({.low = 0.1, .high = 0.9, .points = 3},
                         {.low = 4, .high = 100, .points = 3});
  const auto beta = [](double a, double b) {
    return std::exp(std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b));
  };
  const double both = 3 / (beta(0.419, 4.46) * (1 + 4.4 * 0.419 / 4.879)) * std::pow(0.1, 0.419) *
                      std::pow(0.9, 3.46) * 1.44;
  const double d = 1 / beta(0.763, 5) * std::pow(0.1, 0.763) * std::pow(0.9, 4);
  const double y = 4 / (0.1 * 140 * 140);
  const double flux = (1 + (1 - y) * (1 - y)) / 16 / 0.1;
  const auto first = [&](Target target) {
    return Theory(plane, target, 140).table(truth().unsqueeze(0))[0][0][0].item<double>();
  };
  EXPECT_NEAR(first(Target::proton) / ((4 * both - 3 * d) * flux), 1, 1e-12);
  EXPECT_NEAR(first(Target::neutron) / ((both + 3 * d) * flux), 1, 1e-12);
}

// With s the exponents move: at Q2 = 100, s = ln(ln(2500) / ln(100)); the ratio of both targets
// knows no norm of the flux.
TEST(DukeOwens, EvolvesWithQ2) {
  const env::Plane plane({.low = 0.3, .high = 0.9, .points = 3},
                         {.low = 4, .high = 100, .points = 3});
  const double s = std::log(std::log(2500) / std::log(100));
  const auto at = [&](double c0, double c1, double c2) { return c0 + c1 * s + c2 * s * s; };
  const auto quarks = [](double count, double a, double b, double g) {
    const double beta = std::exp(std::lgamma(a) + std::lgamma(b + 1) - std::lgamma(a + b + 1));
    return count / (beta * (1 + g * a / (a + b + 1))) * std::pow(0.3, a) * std::pow(0.7, b) *
           (1 + g * 0.3);
  };
  const double both =
      quarks(3, at(0.419, 0.004, -0.007), at(3.46, 0.724, -0.066), at(4.4, -4.86, 1.33));
  const double d = quarks(1, at(0.763, -0.237, 0.026), at(4, 0.627, -0.019), at(0, -0.421, 0.033));
  const auto last = [&](Target target) {
    return Theory(plane, target, 140).table(truth().unsqueeze(0))[0][0][2].item<double>();
  };
  EXPECT_NEAR(last(Target::proton) / last(Target::neutron), (4 * both - 3 * d) / (both + 3 * d),
              1e-12);
}

TEST(DukeOwens, StaysPositiveAtTheEndsOfItsRanges) {
  const auto parameters = duke_owens_workload().make()->parameters();
  const auto plans = duke_owens_workload().make()->channels();
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!parameters[i].fixed) free.push_back(i);
  ASSERT_EQ(free.size(), 5U);
  for (unsigned corner = 0; corner < 32; ++corner) {
    torch::Tensor p = truth();
    for (std::size_t k = 0; k < free.size(); ++k)
      p[static_cast<std::int64_t>(free[k])] =
          corner >> k & 1U ? parameters[free[k]].high : parameters[free[k]].low;
    for (const auto& plan : plans)
      EXPECT_GE(plan.density->probabilities(p).min().item<double>(), 0)
          << plan.name << ", corner " << corner;
  }
}

// Each of five values lies beyond 4.5 errors with probability 7e-6.
TEST(DukeOwens, IsFittedFromProtonsAndNeutronsTogether) {
  const env::Environment environment = environment_of(50'000);
  ASSERT_EQ(environment.channels.size(), 2U);
  const optim::FitResult fit = optim::fit_maximum_likelihood(environment, {}, 1);
  for (const std::size_t i : environment.parameters.free()) {
    const double value = truth()[static_cast<std::int64_t>(i)].item<double>();
    EXPECT_LT(std::abs(fit.values[i] - value), 4.5 * fit.errors[i])
        << environment.parameters.names()[i];
  }
}

TEST(DukeOwens, RefusesAQ2BeyondReach) {
  const auto workload = duke_owens_workload().make();
  core::FieldList list;
  workload->fields(list);
  core::ConfigDocument document;
  document.override_with("energy=50");
  core::read_fields(document, list);
  EXPECT_NE(testing::message_of<core::ConfigError>([&] {
              workload->channels();
            }).find("cannot be reached"),
            std::string::npos);
}

}  // namespace
}  // namespace sagips::workloads
