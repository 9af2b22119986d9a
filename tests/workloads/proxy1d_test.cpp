#include "workloads/proxy1d/proxy1d.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "tests/core/message_of.hpp"
#include "tests/env/noise_of.hpp"
#include "workloads/proxy1d/theory.hpp"

namespace sagips::workloads {
namespace {

using testing::doubles;
using testing::message_of;

/// The proxy with assignments such as "detector.enabled=true".
std::unique_ptr<problem::Workload> proxy(const std::vector<std::string>& assignments = {}) {
  auto workload = proxy1d_workload().make();
  core::ConfigDocument document;
  for (const auto& assignment : assignments) document.override_with(assignment);
  core::FieldList list;
  workload->fields(list);
  core::read_fields(document, list);
  return workload;
}

env::Environment environment_of(const problem::Workload& workload, std::int64_t events) {
  problem::DataSettings settings;
  settings.toy_events = events;
  return problem::load_data(workload, settings, 1).all();
}

TEST(Proxy1dTheory, EqualsAHandCalculation) {
  const env::Grid grid{.low = 0.1, .high = 0.99999, .points = 1000, .rule = env::CellRule::left};
  const torch::Tensor table =
      proxy1d::Theory(grid).table(doubles({2, -0.5, 3, 1, 0.25, 4}).unsqueeze(0));
  EXPECT_EQ(table.sizes(), (std::vector<std::int64_t>{1, 2, 1000}));
  for (const std::int64_t i : {0, 500, 999}) {
    const double x = 0.1 + static_cast<double>(i) * 0.89999 / 1000;
    const double u = 2 / std::sqrt(x) * std::pow(1 - x, 3);
    const double d = std::pow(x, 0.25) * std::pow(1 - x, 4);
    EXPECT_NEAR(table[0][0][i].item<double>(), 4 * u + d, 1e-12 * (4 * u + d)) << x;
    EXPECT_NEAR(table[0][1][i].item<double>(), 4 * d + u, 1e-12 * (4 * d + u)) << x;
  }
}

// source: docs/physics/proxy1d.md, from the authors' tool kit
TEST(Proxy1d, HasThePapersParameters) {
  const env::ParameterSet set = env::ParameterSet(proxy()->parameters()).at_toy_values();
  EXPECT_EQ(set.names(), (std::vector<std::string>{"N_u", "a_u", "b_u", "N_d", "a_d", "b_d"}));
  EXPECT_EQ(set.free_size(), 6);
  EXPECT_TRUE(torch::equal(set.truth(), doubles({2.1875, -0.5, 3, 1.09375, -0.5, 4})));
  EXPECT_TRUE(torch::allclose(set.unit_from_physical(set.truth()),
                              doubles({0.72916667, 0.25, 0.6, 0.36458333, 0.25, 0.8}), 0, 5e-9));
  EXPECT_TRUE(torch::allclose(set.physical_from_unit(torch::zeros({6}, torch::kFloat64)),
                              doubles({0, -1, 0, 0, -1, 0})));
  EXPECT_TRUE(torch::allclose(set.physical_from_unit(torch::ones({6}, torch::kFloat64)),
                              doubles({3, 1, 5, 3, 1, 5})));
}

TEST(Proxy1d, GivesPairsOfEventsWithTheirNorms) {
  const env::Environment environment = environment_of(*proxy(), 2'000);
  const data::Dataset& data = environment.channels.at(0).training;
  EXPECT_EQ(data.values.sizes(), (std::vector<std::int64_t>{2'000, 2}));
  EXPECT_GE(data.values.min().item<float>(), 0.1F);
  EXPECT_LE(data.values.max().item<float>(), 0.99999F);
  EXPECT_NEAR(data.reference.at("norm_1"), 3.27857, 6e-6);
  EXPECT_NEAR(data.reference.at("norm_2"), 1.87895, 6e-6);
}

TEST(Proxy1d, OffersItsDensityOnlyWhereItIsKnown) {
  EXPECT_TRUE(proxy()->channels()[0].density.has_value());
  EXPECT_FALSE(proxy({"detector.enabled=true"})->channels()[0].density.has_value());
  EXPECT_FALSE(proxy({"filter.enabled=true"})->channels()[0].density.has_value());
}

TEST(Proxy1d, RunsThroughDetectorAndFilter) {
  for (const char* form : {"soft", "resample"}) {
    const auto workload =
        proxy({"detector.enabled=true", "filter.enabled=true", "filter.low=[0.15, 0.15]",
               "filter.high=[0.8, 0.8]", std::string("filter.training=") + form});
    const env::Environment environment = environment_of(*workload, 500);
    const torch::Tensor& x = environment.channels[0].training.values;
    EXPECT_EQ(x.size(0), 500);
    EXPECT_GE(x.min().item<float>(), 0.15F);
    EXPECT_LE(x.max().item<float>(), 0.8F);
    EXPECT_EQ(environment.channels[0].pipeline.check(environment.parameters, 2).noise_dimensions,
              2 + 2 + 2 + (std::string(form) == "resample" ? 1 : 0));
  }
}

// Relative Cramer-Rao errors in percent at 100,000 pairs with exact norms.
// source: docs/physics/proxy1d.md
TEST(Proxy1d, HasTheKnownFloors) {
  const env::Environment environment = environment_of(*proxy(), 10);
  const torch::Tensor truth = environment.parameters.truth();
  const std::vector<double> percent = {3.73, 3.45, 1.29, 8.44, 7.27, 2.56};
  for (const double pairs : {1e4, 1e5, 1e6}) {
    const std::vector<double> errors =
        optim::cramer_rao_errors(environment, optim::ReferenceUse::exact, truth, pairs);
    for (std::size_t i = 0; i < percent.size(); ++i) {
      const double relative =
          errors[i] / std::abs(truth[static_cast<std::int64_t>(i)].item<double>());
      EXPECT_NEAR(100 * relative * std::sqrt(pairs / 1e5), percent[i], 0.0051)
          << environment.parameters.names()[i] << " at " << pairs;
    }
  }
}

TEST(Proxy1d, HasADirectionThatEventsAloneDoNotFix) {
  const env::Environment environment = environment_of(*proxy(), 20'000);
  const std::vector<double> floors = optim::cramer_rao_errors(
      environment, optim::ReferenceUse::ignore, environment.parameters.truth(), 1e5);
  const std::vector<bool> open = {true, false, false, true, false, false};
  for (std::size_t i = 0; i < open.size(); ++i) EXPECT_EQ(std::isnan(floors[i]), open[i]) << i;
  optim::FitConfig config;
  config.reference = optim::ReferenceUse::ignore;
  config.starts = 2;
  const optim::FitResult fit = optim::fit_maximum_likelihood(environment, config, 1);
  EXPECT_EQ(fit.open, open);
  ASSERT_EQ(fit.open_directions.size(), 1U);
  EXPECT_NE(fit.open_directions[0].find("N_u + "), std::string::npos) << fit.open_directions[0];
  EXPECT_NE(fit.open_directions[0].find("N_d"), std::string::npos) << fit.open_directions[0];
}

}  // namespace
}  // namespace sagips::workloads
