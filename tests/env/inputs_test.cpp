// What goes into a pipeline: noise, parameters, events.
#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "sagips/env/events.hpp"
#include "sagips/env/parameter.hpp"
#include "tests/core/message_of.hpp"
#include "tests/env/noise_of.hpp"
#include "tests/env/recorded_noise.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

TEST(Noise, DoesNotDependOnTiles) {
  Noise whole = noise_of(1, 7, 5), first = noise_of(1, 3, 5), second = noise_of(1, 4, 5, 3);
  for (int dimension = 0; dimension < 3; ++dimension) {
    const bool normal = dimension == 1;
    const auto next = [normal](Noise& noise) { return normal ? noise.normal() : noise.uniform(); };
    EXPECT_TRUE(torch::equal(next(whole), torch::cat({next(first), next(second)})));
  }
}

TEST(Noise, GivesMoreEventsTheSameFirstNumbers) {
  EXPECT_TRUE(
      torch::equal(noise_of(1, 3, 9).uniform().narrow(1, 0, 4), noise_of(1, 3, 4).uniform()));
}

TEST(Noise, CountsTheDimensionsThatAreTaken) {
  Noise noise = noise_of(1, 2, 3);
  EXPECT_EQ(noise.dimensions(), 0);
  const torch::Tensor first = noise.uniform();
  const torch::Tensor second = noise.uniform();
  noise.normal();
  EXPECT_EQ(noise.dimensions(), 3);
  EXPECT_EQ(noise.samples(), 2);
  EXPECT_EQ(noise.events(), 3);
  EXPECT_FALSE(torch::equal(first, second)) << "each call takes a new dimension";
}

TEST(Noise, RepeatsItselfThroughACopy) {
  Noise noise = noise_of(1, 2, 3);
  noise.uniform();
  Noise copy = noise;
  EXPECT_TRUE(torch::equal(noise.normal(), copy.normal()));
  EXPECT_TRUE(torch::equal(noise.uniform(), copy.uniform()));
}

// Means and mean squares of 1e6 numbers within 5 deviations, six numbers: false alarm 3.5e-6.
TEST(Noise, HasTheMomentsOfItsDistributions) {
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    Noise noise = noise_of(2, 1000, 1000, 0, type);
    const torch::Tensor uniform = noise.uniform(), normal = noise.normal();
    EXPECT_EQ(uniform.scalar_type(), type);
    EXPECT_GT(uniform.min().item<double>(), 0.0);
    EXPECT_LT(uniform.max().item<double>(), 1.0);
    EXPECT_NEAR(uniform.mean().item<double>(), 0.5, 5 * std::sqrt(1 / 12e6));
    EXPECT_NEAR(normal.mean().item<double>(), 0, 5e-3);
    EXPECT_NEAR(normal.square().mean().item<double>(), 1, 5 * std::sqrt(2e-6));
  }
}

TEST(RecordedNoise, GivesTheNumbersOfItsSamplesBack) {
  const torch::Tensor first = torch::rand({6, 4}), second = torch::rand({6, 4});
  const auto source = std::make_shared<RecordedNoise>(std::vector<torch::Tensor>{first, second});
  Noise noise(source, 2, 4, 3);
  EXPECT_TRUE(torch::equal(noise.uniform(), first.narrow(0, 3, 2)));
  EXPECT_TRUE(torch::allclose(noise.normal(), torch::special_ndtri(second.narrow(0, 3, 2))));
}

TEST(RecordedNoise, RefusesToGiveMoreThanWasRecorded) {
  const auto source =
      std::make_shared<RecordedNoise>(std::vector<torch::Tensor>{torch::rand({6, 4})});
  Noise more_dimensions(source, 6, 4);
  more_dimensions.uniform();
  EXPECT_NE(message_of<core::StateError>([&] { more_dimensions.uniform(); }).find("1 dimensions"),
            std::string::npos);
  for (Noise noise : {Noise(source, 6, 4, 1), Noise(source, 6, 5)})
    EXPECT_THROW(noise.uniform(), core::StateError);
}

Parameter parameter(const std::string& name, double low, double high) {
  Parameter made;
  made.name = name;
  made.low = low;
  made.high = high;
  return made;
}

// a in (-1, 3) free, b held at 0.5, c in (10, 20) free
ParameterSet three() {
  std::vector<Parameter> parameters = {parameter("a", -1, 3), parameter("b", 0, 1),
                                       parameter("c", 10, 20)};
  parameters[0].truth = 0.0;
  parameters[1].fixed = 0.5;
  parameters[2].toy = 18.0;
  return ParameterSet(parameters);
}

TEST(ParameterSet, ConvertsByHand) {
  const ParameterSet set = three();
  EXPECT_EQ(set.size(), 3);
  EXPECT_EQ(set.free_size(), 2);
  EXPECT_EQ(set.free(), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(set.names(), (std::vector<std::string>{"a", "b", "c"}));
  const torch::Tensor physical = set.physical_from_unit(doubles({0.25, 0.8}));
  EXPECT_TRUE(torch::allclose(physical, doubles({0.0, 0.5, 18.0}))) << physical;
  EXPECT_TRUE(torch::allclose(set.physical_from_logit(doubles({-std::log(3), std::log(4)})),
                              doubles({0.0, 0.5, 18.0})));
}

TEST(ParameterSet, TurnsPeriodicParametersOnACircle) {
  std::vector<Parameter> parameters = three().all();
  parameters[0].periodic = true;
  const ParameterSet set(parameters);
  const Parameter& a = parameters[0];
  const double period = a.high - a.low;
  // other turns are the same point, other parameters have none
  EXPECT_TRUE(torch::allclose(set.physical_from_unit(doubles({1.25, 0.8})),
                              set.physical_from_unit(doubles({0.25, 0.8}))));
  EXPECT_TRUE(torch::allclose(set.physical_from_unit(doubles({-0.75, 0.8})),
                              set.physical_from_unit(doubles({0.25, 0.8}))));
  EXPECT_TRUE(
      torch::allclose(set.away(doubles({0.9, 0.9}), doubles({0.1, 0.1})), doubles({-0.2, 0.8})));
  EXPECT_NEAR(a.nearest(a.low + 0.1, a.high), a.low + 0.1 + period, 1e-12);
  EXPECT_EQ(three().all()[0].nearest(a.low, a.high), a.low);
}

TEST(ParameterSet, GoesThereAndBackForAnyLeadingShape) {
  const ParameterSet set = three();
  const torch::Tensor unit = torch::rand({4, 5, 2}, torch::kFloat64) * 0.98 + 0.01;
  const torch::Tensor physical = set.physical_from_unit(unit);
  EXPECT_EQ(physical.sizes(), (std::vector<std::int64_t>{4, 5, 3}));
  EXPECT_TRUE(torch::allclose(set.unit_from_physical(physical), unit, 0, 1e-13));
  const torch::Tensor logit = torch::randn({7, 2}, torch::kFloat64) * 3;
  EXPECT_TRUE(
      torch::allclose(set.logit_from_physical(set.physical_from_logit(logit)), logit, 1e-9, 1e-9));
}

TEST(ParameterSet, GivesFixedParametersNoGradient) {
  const torch::Tensor logit = torch::zeros({2}, torch::kFloat64).requires_grad_();
  const torch::Tensor physical = three().physical_from_logit(logit);
  // d physical / d logit = range g (1 - g)
  EXPECT_TRUE(torch::equal(torch::autograd::grad({physical.sum()}, {logit})[0], doubles({1, 2.5})));
}

TEST(ParameterSet, KnowsTheTruthOnlyWhenAllOfItIsKnown) {
  const ParameterSet set = three();
  EXPECT_FALSE(set.truth_known());
  EXPECT_EQ(message_of<core::ConfigError>([&] { set.truth(); }).find("parameters.c"), 0U);
  const ParameterSet toy = set.at_toy_values();
  EXPECT_TRUE(toy.truth_known());
  EXPECT_TRUE(torch::equal(toy.truth(), doubles({0.0, 0.5, 18.0})));
  EXPECT_EQ(toy.all()[2].truth, 18.0);
}

TEST(ParameterSet, RefusesToMakeToysOfAnUnknownParameter) {
  EXPECT_THROW(ParameterSet({parameter("a", 0, 1)}).at_toy_values(), core::ConfigError);
}

std::string refusal(std::vector<Parameter> parameters) {
  return message_of<core::ConfigError>([&] { ParameterSet set(std::move(parameters)); });
}

TEST(ParameterSet, RefusesEmptyRanges) {
  for (const double high : {-1.0, 0.0, std::nan("")})
    EXPECT_EQ(refusal({parameter("a", 0, high)}).find("parameters.a: the range"), 0U);
}

TEST(ParameterSet, RefusesValuesAtOrBeyondTheEndsOfTheRange) {
  using Member = std::optional<double> Parameter::*;
  for (const Member member : {&Parameter::truth, &Parameter::toy, &Parameter::fixed})
    for (const double value : {-0.5, 0.0, 1.0, 2.0, std::nan("")}) {
      Parameter wrong = parameter("a", 0, 1);
      wrong.*member = value;
      EXPECT_EQ(refusal({wrong, parameter("b", 0, 1)}).find("parameters.a: "), 0U) << value;
    }
}

TEST(ParameterSet, RefusesANameTwice) {
  EXPECT_NE(refusal({parameter("a", 0, 1), parameter("a", 0, 1)}).find("'a' is there twice"),
            std::string::npos);
}

TEST(ParameterSet, RefusesToHaveNothingToFind) {
  Parameter held = parameter("a", 0, 1);
  held.fixed = 0.5;
  EXPECT_NE(refusal({held}).find("none is free"), std::string::npos);
  EXPECT_NE(refusal({}).find("none is free"), std::string::npos);
}

// Two samples of three events of one observable; the second event of each sample is masked.
Events masked_events() {
  Events events;
  events.values = torch::arange(6, torch::kFloat32).view({2, 3, 1});
  events.mask = torch::tensor({{true, false, true}, {true, false, true}});
  events.weights = torch::tensor({{1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, 6.0F}});
  events.numbers["norm"] = torch::tensor({1.0F, 2.0F});
  return events;
}

TEST(Events, WeighMaskedEventsZero) {
  Events events = masked_events();
  EXPECT_TRUE(torch::equal(events.effective_weights(),
                           torch::tensor({{1.0F, 0.0F, 3.0F}, {4.0F, 0.0F, 6.0F}})));
  events.weights.reset();
  EXPECT_TRUE(torch::equal(events.effective_weights(),
                           torch::tensor({{1.0F, 0.0F, 1.0F}, {1.0F, 0.0F, 1.0F}})));
  events.mask.reset();
  EXPECT_FALSE(events.effective_weights().defined());
}

TEST(Events, GiveTheRowsThatExist) {
  const auto [values, weights] = masked_events().rows();
  EXPECT_TRUE(torch::equal(values, torch::tensor({{0.0F}, {2.0F}, {3.0F}, {5.0F}})));
  EXPECT_TRUE(torch::equal(weights, torch::tensor({1.0F, 3.0F, 4.0F, 6.0F})));
}

TEST(Events, LeaveTheGraphWithAllTheyHold) {
  Events events = masked_events();
  events.values.requires_grad_();
  events.weights->requires_grad_();
  events.numbers["norm"].requires_grad_();
  const Events apart = events.detached();
  EXPECT_FALSE(apart.values.requires_grad());
  EXPECT_FALSE(apart.weights->requires_grad());
  EXPECT_FALSE(apart.numbers.at("norm").requires_grad());
  EXPECT_TRUE(torch::equal(*apart.mask, *events.mask));
}

}  // namespace
}  // namespace sagips::env
