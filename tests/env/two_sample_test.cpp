// Whether two samples of events have one origin: statistics against sums over pairs, p-values
// against what the word promises.
#include <gtest/gtest.h>

#include <functional>

#include "sagips/core/error.hpp"
#include "sagips/env/compare/distance.hpp"
#include "sagips/env/compare/two_sample.hpp"
#include "sagips/env/noise/shuffle.hpp"
#include "tests/core/message_of.hpp"
#include "tests/env/noise_of.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

// Standard normal events, moved along the first observable.
EventRows normal_events(std::int64_t events, std::int64_t observables, std::uint64_t seed,
                        double shift = 0) {
  torch::Tensor values = noise_of(seed, events, observables).normal();
  values.select(1, 0).add_(shift);
  return {values};
}

// Standard normal events after weighting: drawn 1.3 times as wide.
EventRows weighted_events(std::int64_t events, std::uint64_t seed) {
  constexpr double width = 1.3;
  EventRows rows = normal_events(events, 1, seed);
  rows.values = rows.values * width;
  const torch::Tensor x = rows.values.select(1, 0);
  rows.weights = torch::exp(x.square() * (0.5 / (width * width) - 0.5));
  return rows;
}

// With the false-alarm probability 1e-4 the largest difference of the p-values' distribution from
// the uniform one exceeds sqrt(ln(2 / 1e-4) / 2 / n) (Dvoretzky, Kiefer, Wolfowitz, Massart).
void expect_uniform(const std::function<double(std::uint64_t)>& p_value, std::int64_t repeats,
                    double step) {
  std::vector<double> found;
  for (std::int64_t i = 0; i < repeats; ++i)
    found.push_back(p_value(static_cast<std::uint64_t>(i)));
  const torch::Tensor sorted = std::get<0>(doubles(found).sort());
  const torch::Tensor ranks = torch::arange(1, repeats + 1, torch::kFloat64) / repeats;
  const double difference =
      std::max(largest((ranks - sorted).clamp_min(0)),
               largest((sorted - ranks + 1.0 / static_cast<double>(repeats)).clamp_min(0)));
  EXPECT_LT(difference, std::sqrt(std::log(2 / 1e-4) / 2 / static_cast<double>(repeats)) + step);
}

core::RandomStream labels(std::uint64_t seed) { return {seed, "labels"}; }

TEST(Shuffle, GivesEachOrderAsOftenAsTheOthers) {
  constexpr std::int64_t orders = 6000;
  const torch::Tensor found = shuffled(3, orders, labels(1));
  const torch::Tensor code = found.select(1, 0) * 3 + found.select(1, 1);
  double chi_square = 0;
  for (const std::int64_t k : {1, 2, 3, 5, 6, 7}) {
    const double count = (code == k).sum().item<double>();
    chi_square += (count - 1000) * (count - 1000) / 1000;
  }
  EXPECT_LT(std::abs(chi_square_pull(chi_square, 5)), 5);  // by chance: 6e-7
  EXPECT_TRUE(torch::equal(shuffled(3, 10, labels(1), 90), found.narrow(0, 90, 10)));
}

TEST(Shuffle, GivesTheFirstOnesWithoutTheOthers) {
  for (const std::int64_t size : {7, 4096, 10'000}) {
    const torch::Tensor all = shuffled(size, 1, labels(5))[0];
    for (const std::int64_t count : {0, 1, 6})
      EXPECT_TRUE(torch::equal(first_shuffled(size, count, labels(5)), all.narrow(0, 0, count)));
    EXPECT_TRUE(torch::equal(first_shuffled(size, size, labels(5)), all));
  }
}

TEST(EventRows, KnowWhatEachEventCounts) {
  EventRows rows{torch::zeros({4, 1}), torch::tensor({1.0F, 0.0F, 2.0F, 1.0F})};
  EXPECT_TRUE(torch::allclose(rows.shares(), doubles({0.25, 0, 0.5, 0.25})));
  EXPECT_NEAR(rows.effective_size(), 16.0 / 6, 1e-12);
  EXPECT_EQ(EventRows{torch::zeros({4, 1})}.effective_size(), 4);
  rows.values = torch::arange(4.0F).unsqueeze(1);
  const EventRows some = rows.at_most(3, labels(2));
  EXPECT_EQ(some.size(), 3);
  EXPECT_TRUE(torch::equal(
      some.weights, rows.weights.index_select(0, some.values.select(1, 0).to(torch::kInt64))));
  EXPECT_TRUE(torch::equal(rows.at_most(4, labels(2)).values, rows.values));
}

TEST(EnergyTest, EqualsASumOverPairs) {
  const EventRows x{torch::tensor({{0.0F}, {2.0F}, {1.0F}}), torch::tensor({1.0F, 1.0F, 2.0F})};
  const EventRows y{torch::tensor({{3.0F}, {-1.0F}})};
  // mean 1 and deviation sqrt(2) of all five; shares 1/4, 1/4, 1/2 against 1/2, 1/2
  const std::vector<double> values = {0, 2, 1, 3, -1}, shares = {0.25, 0.25, 0.5, -0.5, -0.5};
  double expected = 0;
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      expected -= shares[i] * shares[j] * std::abs(values[i] - values[j]) / std::sqrt(2.0);
  EXPECT_NEAR(energy_test(x, y, 9, labels(1)).statistic, expected, 1e-12);
}

TEST(EnergyTest, DoesNotDependOnUnits) {
  const EventRows x = normal_events(50, 2, 1), y = normal_events(40, 2, 2, 0.3);
  const torch::Tensor unit = torch::tensor({8.0F, 0.25F});
  const TestResult first = energy_test(x, y, 99, labels(3));
  const TestResult other = energy_test({x.values * unit}, {y.values * unit}, 99, labels(3));
  EXPECT_NEAR(first.statistic, other.statistic, 1e-9);
  EXPECT_EQ(first.p_value, other.p_value);
}

TEST(EnergyTest, GivesUniformPValuesForEventsOfOneOrigin) {
  expect_uniform(
      [](std::uint64_t seed) {
        return energy_test(normal_events(60, 2, 2 * seed), normal_events(40, 2, 2 * seed + 1), 199,
                           labels(seed))
            .p_value;
      },
      1000, 1.0 / 200);
}

// One sample is unweighted, the other weighted: permuting labels would not do here.
TEST(EnergyTest, GivesUniformPValuesForWeightedEvents) {
  expect_uniform(
      [](std::uint64_t seed) {
        return energy_test(normal_events(150, 1, 2 * seed), weighted_events(100, 2 * seed + 1), 199,
                           labels(seed))
            .p_value;
      },
      1000, 1.0 / 200);
}

// A shift by half a deviation of 200 + 200 events is 5 errors of the difference of means.
TEST(EnergyTest, SeesAShift) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const EventRows x = normal_events(200, 1, 2 * seed),
                    y = normal_events(200, 1, 2 * seed + 1, 0.5);
    EXPECT_LT(energy_test(x, y, 199, labels(seed)).p_value, 0.02) << seed;
    EXPECT_LT(energy_test(y, weighted_events(300, 99 + seed), 199, labels(seed)).p_value, 0.02)
        << seed;
  }
}

TEST(EnergyTest, SeesAWiderDistribution) {
  EventRows wide = normal_events(400, 1, 1);
  wide.values = wide.values * 1.5;
  EXPECT_EQ(energy_test(normal_events(400, 1, 2), wide, 199, labels(1)).p_value, 1.0 / 200);
}

TEST(EnergyTest, TakesEqualSamplesForEqual) {
  const EventRows x = normal_events(30, 2, 1);
  EXPECT_EQ(energy_test(x, x, 49, labels(1)).p_value, 1);
  const EventRows same{torch::ones({5, 1})};
  EXPECT_EQ(energy_test(same, same, 49, labels(1)).p_value, 1);
}

EventClassifier::Config quick_classifier() {
  return {.width = 8, .layers = 1, .steps = 30, .learning_rate = 5e-2};
}

// the accuracy is a count, so its p-values come in steps
TEST(ClassifierTest, GivesUniformPValuesForEventsOfOneOrigin) {
  expect_uniform(
      [](std::uint64_t seed) {
        return classifier_test(normal_events(400, 2, 2 * seed), normal_events(400, 2, 2 * seed + 1),
                               quick_classifier(), labels(seed))
            .p_value;
      },
      300, 0.03);
}

TEST(ClassifierTest, GivesUniformPValuesForWeightedEvents) {
  expect_uniform(
      [](std::uint64_t seed) {
        return classifier_test(normal_events(400, 1, 2 * seed), weighted_events(500, 2 * seed + 1),
                               quick_classifier(), labels(seed))
            .p_value;
      },
      300, 0.03);
}

// For a shift by one deviation the best possible accuracy is Phi(1/2) = 0.6915.
TEST(ClassifierTest, ReachesTheBestPossibleAccuracy) {
  const TestResult result = classifier_test(normal_events(4000, 1, 1), normal_events(6000, 1, 2, 1),
                                            quick_classifier(), labels(1));
  EXPECT_NEAR(result.statistic, 0.6915, 4 * std::sqrt(0.25 / 5000));  // by chance: 6e-5
  EXPECT_LT(result.p_value, 1e-10);
}

// No mean and no deviation tells these apart: y = |z| sign(x) against independent signs.
TEST(ClassifierTest, SeesADependenceOfObservables) {
  const EventRows x = normal_events(2000, 2, 1);
  EventRows y = normal_events(2000, 2, 2);
  y.values.select(1, 1).abs_().mul_(y.values.select(1, 0).sign());
  const TestResult result = classifier_test(x, y, {}, labels(1));
  EXPECT_GT(result.statistic, 0.7);
  EXPECT_LT(result.p_value, 1e-10);
}

TEST(TwoSampleTests, RefuseSamplesThatCannotBeCompared) {
  const EventRows x = normal_events(10, 2, 1);
  EXPECT_EQ(
      message_of<core::DataError>([&] { energy_test(x, normal_events(1, 2, 1), 9, labels(1)); }),
      "synthetic events: holds 1 events (a two-sample test needs at least 2). Take more.");
  EXPECT_EQ(message_of<core::DataError>(
                [&] { classifier_test(x, normal_events(10, 1, 1), {}, labels(1)); }),
            "synthetic events: have 1 observables, measured ones 2. Compare like with like.");
}

}  // namespace
}  // namespace sagips::env
