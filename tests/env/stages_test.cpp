#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "sagips/env/stages/detector.hpp"
#include "sagips/env/stages/event_filter.hpp"
#include "tests/core/message_of.hpp"
#include "tests/env/noise_of.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

torch::Tensor same_events(std::int64_t samples, std::int64_t events, const torch::Tensor& event) {
  return event.expand({samples, events, event.size(0)}).contiguous();
}

Detector::Config quiet_detector() {
  Detector::Config config;
  config.smearing = {0, 0};
  config.mixing = 0;
  config.random_mixing = 0;
  return config;
}

TEST(Detector, WithoutSmearingAndMixingChangesNothing) {
  Noise noise = noise_of(1, 3, 4);
  const torch::Tensor events = torch::rand({3, 4, 2});
  EXPECT_TRUE(torch::equal(Detector(quiet_detector(), 2)(events, noise), events));
}

TEST(Detector, MixesAConstantShareOfTheOtherObservables) {
  Detector::Config config = quiet_detector();
  config.smearing = {0, 0, 0};
  config.mixing = 0.1;
  Noise noise = noise_of(1, 1, 1);
  const torch::Tensor out = Detector(config, 3)(torch::tensor({{{1.0F, 2.0F, 4.0F}}}), noise);
  EXPECT_TRUE(torch::allclose(out, torch::tensor({{{1.6F, 2.5F, 4.3F}}})));
  EXPECT_EQ(noise.dimensions(), 3 + 3 * 2) << "D normal and D (D - 1) uniform dimensions";
}

// 1e6 events at (2, 5). Relative smearing 0.08 and 0.15: means stay, deviations are 0.16 and 0.75.
// Five deviations on each of 5 numbers: false alarm 3e-6.
TEST(Detector, SmearsEachObservableRelativeToItsValue) {
  Detector::Config config = quiet_detector();
  config.smearing = {0.08, 0.15};
  Noise noise = noise_of(2, 1000, 1000);
  const torch::Tensor out =
      Detector(config, 2)(same_events(1000, 1000, torch::tensor({2.0F, 5.0F})), noise)
          .to(torch::kFloat64)
          .view({-1, 2});
  const torch::Tensor pulls = (out - doubles({2, 5})) / doubles({0.16, 0.75});
  for (std::int64_t k = 0; k < 2; ++k) {
    EXPECT_LT(std::abs(pulls.select(1, k).mean().item<double>()), 5e-3);
    EXPECT_LT(std::abs(chi_square_pull(pulls.select(1, k).square().sum().item<double>(), 1e6)), 5);
  }
  EXPECT_LT(std::abs((pulls.select(1, 0) * pulls.select(1, 1)).mean().item<double>()), 5e-3);
}

// The random share is 0.2 (A + A') / 2 with A, A' uniform in (-1, 0.3), the same in both
// directions: mean 0.2 (-0.35), variance 0.2^2 1.3^2 / 24. False alarm of the two numbers: 1.2e-6.
TEST(Detector, MixesARandomSymmetricShare) {
  Detector::Config config = quiet_detector();
  config.random_mixing = 0.2;
  Noise noise = noise_of(3, 1000, 1000);
  const torch::Tensor out =
      Detector(config, 2)(same_events(1000, 1000, torch::tensor({1.0F, 1.0F})), noise)
          .to(torch::kFloat64) -
      1;
  EXPECT_TRUE(torch::equal(out.select(2, 0), out.select(2, 1)));
  const torch::Tensor share = out.select(2, 0) / 0.2;
  const double variance = 1.3 * 1.3 / 24;
  EXPECT_NEAR(share.mean().item<double>(), -0.35, 5 * std::sqrt(variance / 1e6));
  // kurtosis of a triangle is 2.4
  EXPECT_NEAR(share.var(false).item<double>(), variance, 5 * variance * std::sqrt(1.4 / 1e6));
  EXPECT_GT(share.min().item<double>(), -1.0);
  EXPECT_LT(share.max().item<double>(), 0.3);
}

TEST(Detector, RefusesASmearingThatDoesNotFit) {
  EXPECT_NE(message_of<core::ConfigError>([] {
              Detector(Detector::Config{}, 3);
            }).find("has 2 numbers for 3 observables"),
            std::string::npos);
}

TEST(Detector, RefusesEventsOfAnotherNumberOfObservables) {
  Noise noise = noise_of(1, 2, 4);
  const Detector detector(Detector::Config{}, 2);
  for (const std::int64_t observables : {1, 3})
    EXPECT_THROW(detector(torch::rand({2, 4, observables}), noise), core::ShapeError);
}

Events events_of(torch::Tensor values) {
  Events events;
  events.values = std::move(values);
  return events;
}

// Inside (0..1, 0..2), at its corner, outside in the first, outside in the second observable.
torch::Tensor four_events() {
  return torch::tensor({{{0.5F, 1.0F}, {1.0F, 0.0F}, {1.5F, 1.0F}, {0.5F, -0.5F}}});
}

EventFilter::Config box(EventFilter::Training training) {
  EventFilter::Config config;
  config.low = {0, 0};
  config.high = {1, 2};
  config.training = training;
  return config;
}

TEST(EventFilter, MasksEventsOutsideTheBox) {
  Noise noise = noise_of(1, 1, 4);
  const EventFilter filter(box(EventFilter::Training::soft), 2);
  Events events = events_of(four_events());
  Events out = filter.infer(events, noise);
  EXPECT_TRUE(torch::equal(*out.mask, torch::tensor({{true, true, false, false}})));
  EXPECT_TRUE(torch::equal(out.values, events.values));
  events.mask = torch::tensor({{false, true, true, true}});
  out = filter.infer(events, noise);
  EXPECT_TRUE(torch::equal(*out.mask, torch::tensor({{false, true, false, false}})));
  EXPECT_EQ(noise.dimensions(), 0);
}

TEST(EventFilter, WeighsEventsSoftly) {
  EventFilter::Config config = box(EventFilter::Training::soft);
  config.steepness = 2;
  config.shift = 0.1;
  Noise noise = noise_of(1, 1, 4);
  Events events = events_of(four_events());
  events.weights = torch::tensor({{1.0F, 2.0F, 3.0F, 4.0F}});
  const Events out = EventFilter(config, 2)(events, noise);
  const auto s = [](double x) { return 1 / (1 + std::exp(-2 * x)); };
  const auto lifted = [](double weight) { return 0.9 * weight + 0.1; };
  const std::vector<double> expected = {
      lifted(s(0.5) * s(0.5) * s(1) * s(1)), 2 * lifted(s(1) * s(0) * s(0) * s(2)),
      3 * lifted(s(1.5) * s(-0.5) * s(1) * s(1)), 4 * lifted(s(0.5) * s(0.5) * s(-0.5) * s(2.5))};
  EXPECT_TRUE(torch::allclose((*out.weights)[0].to(torch::kFloat64), doubles(expected), 1e-6));
  EXPECT_FALSE(out.mask.has_value());
}

TEST(EventFilter, GivesTheSoftEdgeAGradient) {
  Noise noise = noise_of(1, 1, 4);
  const torch::Tensor values = four_events().requires_grad_();
  const Events out = EventFilter(box(EventFilter::Training::soft), 2)(events_of(values), noise);
  const torch::Tensor gradient = torch::autograd::grad({out.weights->sum()}, {values})[0];
  EXPECT_LT(gradient[0][1][0].item<float>(), 0.0F) << "at the upper edge more x means less weight";
  EXPECT_GT(gradient[0][1][1].item<float>(), 0.0F) << "at the lower edge more x means more weight";
}

// 1e5 events drawn from the two survivors: a binomial of 1/2, beyond 5 deviations with 5.7e-7.
TEST(EventFilter, DrawsSurvivorsAgainToTheOriginalCount) {
  constexpr std::int64_t repeats = 25'000;
  Noise noise = noise_of(4, 1, 4 * repeats);
  Events events = events_of(four_events().repeat({1, repeats, 1}));
  events.weights = events.values.select(2, 0) * 10;
  const Events out = EventFilter(box(EventFilter::Training::resample), 2)(events, noise);
  EXPECT_EQ(noise.dimensions(), 1);
  EXPECT_EQ(out.values.sizes(), events.values.sizes());
  EXPECT_TRUE(out.mask->all().item<bool>());
  const torch::Tensor first = out.values.select(2, 0), second = out.values.select(2, 1);
  EXPECT_TRUE(torch::equal(*out.weights, first * 10)) << "weights stay with their events";
  const torch::Tensor is_first = (first == 0.5) & (second == 1.0);
  const torch::Tensor is_second = (first == 1.0) & (second == 0.0);
  EXPECT_TRUE((is_first | is_second).all().item<bool>());
  const auto share = is_first.to(torch::kFloat64).mean().item<double>();
  EXPECT_NEAR(share, 0.5, 5 * 0.5 / std::sqrt(4.0 * repeats));
}

TEST(EventFilter, LetsTheGradientThroughToTheDrawnEvents) {
  Noise noise = noise_of(1, 1, 4);
  const torch::Tensor values = four_events().requires_grad_();
  const Events out = EventFilter(box(EventFilter::Training::resample), 2)(events_of(values), noise);
  const torch::Tensor gradient = torch::autograd::grad({out.values.sum()}, {values})[0];
  EXPECT_EQ(gradient.sum().item<float>(), 8.0F) << "each drawn event hands its gradient to one";
  EXPECT_EQ(largest(gradient.narrow(1, 2, 2)), 0.0) << "none goes to events that were cut";
}

TEST(EventFilter, MasksASampleWithoutSurvivors) {
  Noise noise = noise_of(1, 2, 2);
  Events events =
      events_of(torch::tensor({{{0.5F, 0.5F}, {5.0F, 5.0F}}, {{5.0F, 5.0F}, {6.0F, 6.0F}}}));
  const Events out = EventFilter(box(EventFilter::Training::resample), 2)(events, noise);
  EXPECT_TRUE(torch::equal(*out.mask, torch::tensor({{true, true}, {false, false}})));
  EXPECT_TRUE(torch::isfinite(out.values).all().item<bool>());
}

TEST(EventFilter, DoesNotDrawEventsThatWereGoneBefore) {
  Noise noise = noise_of(1, 1, 4);
  Events events = events_of(four_events());
  events.mask = torch::tensor({{false, true, true, true}});
  const Events out = EventFilter(box(EventFilter::Training::resample), 2)(events, noise);
  EXPECT_TRUE((out.values.select(2, 0) == 1.0).all().item<bool>());
}

TEST(EventFilter, RefusesABoxThatDoesNotFitOrIsEmpty) {
  EventFilter::Config config;
  EXPECT_THROW(EventFilter(config, 3), core::ConfigError);
  config.high = {1, 0};
  EXPECT_NE(message_of<core::ConfigError>([&] { EventFilter(config, 2); }).find("observable 1"),
            std::string::npos);
}

TEST(EventFilter, RefusesEventsOfAnotherNumberOfObservables) {
  Noise noise = noise_of(1, 2, 4);
  for (const auto training : {EventFilter::Training::soft, EventFilter::Training::resample})
    for (const std::int64_t observables : {1, 3}) {
      const EventFilter filter(box(training), 2);
      const Events events = events_of(torch::rand({2, 4, observables}));
      EXPECT_THROW(filter(events, noise), core::ShapeError) << observables;
      EXPECT_THROW(filter.infer(events, noise), core::ShapeError) << observables;
    }
}

}  // namespace
}  // namespace sagips::env
