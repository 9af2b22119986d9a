#include "sagips/env/pipeline.hpp"

#include <gtest/gtest.h>

#include "tests/env/noise_of.hpp"
#include "tests/env/small_stages.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

template <class T>
struct Templated {
  torch::Tensor operator()(torch::Tensor events, Noise&) const { return events; }
};

TEST(Stage, LiftsATensorStageAndLetsTheRestPassBy) {
  Events events;
  events.values = torch::ones({2, 3, 1});
  events.weights = torch::rand({2, 3});
  events.mask = torch::ones({2, 3}, torch::kBool);
  events.numbers["norm"] = torch::rand({2});
  Noise noise = noise_of(1, 2, 3);
  const Stage stage = Shift{};
  const Events out = stage(events, noise);
  EXPECT_TRUE(torch::equal(out.values, events.values + 1));
  EXPECT_TRUE(torch::equal(*out.weights, *events.weights));
  EXPECT_TRUE(torch::equal(*out.mask, *events.mask));
  EXPECT_TRUE(torch::equal(out.numbers.at("norm"), events.numbers.at("norm")));
}

TEST(Stage, UsesTheInferenceFormWhereThereIsOne) {
  Events events;
  events.values = torch::ones({2, 2});
  Noise noise = noise_of(1, 2, 3);
  EXPECT_EQ(Stage(Shift{}).infer(events, noise).values[0][0].item<float>(), 11.0F);
  EXPECT_EQ(Stage(WithNumber{}).infer(events, noise).numbers.at("sum")[0].item<float>(), 20.0F);
  EXPECT_EQ(Stage(WithNumber{})(events, noise).numbers.at("sum")[0].item<float>(), 2.0F);
  Noise again = noise;
  EXPECT_TRUE(torch::equal(Stage(Gauss{}).infer(events, noise).values,
                           Stage(Gauss{})(events, again).values))
      << "without one, the call operator serves";
}

TEST(Stage, IsNamedByItsTypeUnlessItSaysOtherwise) {
  EXPECT_EQ(Stage(Gauss{}).name(), "Gauss");
  EXPECT_EQ(Stage(WithNumber{}).name(), "with_number");
  const std::string templated = Stage(Templated<std::vector<Shift>>{}).name();
  EXPECT_EQ(templated.find("Templated<"), 0U) << templated;
  const auto lambda = [](torch::Tensor events, Noise&) { return events; };
  EXPECT_EQ(Stage(lambda).name().find("{lambda("), 0U) << Stage(lambda).name();
}

TEST(Pipeline, RunsItsStagesInOrder) {
  const Pipeline pipeline{WithNumber{}, Gauss{}, Shift{}};
  const torch::Tensor parameters = torch::tensor({{1.0F, 0.5F}, {2.0F, 0.25F}});
  Noise noise = noise_of(1, 2, 3), same = noise;
  const Events events = pipeline(parameters, noise);
  const torch::Tensor normal = same.normal();
  EXPECT_TRUE(torch::allclose(events.values[0].squeeze(1), normal[0] * 0.5 + 2));
  EXPECT_TRUE(torch::allclose(events.values[1].squeeze(1), normal[1] * 0.25 + 3));
  EXPECT_TRUE(torch::equal(events.numbers.at("sum"), torch::tensor({1.5F, 2.25F})));
}

TEST(Pipeline, InfersWithoutAGraph) {
  const Pipeline pipeline{WithNumber{}, Gauss{}, Shift{}};
  Noise noise = noise_of(1, 2, 3);
  const Events events = pipeline.infer(torch::ones({2, 2}).requires_grad_(), noise);
  EXPECT_FALSE(events.values.requires_grad());
  EXPECT_FALSE(events.numbers.at("sum").requires_grad());
  EXPECT_EQ(events.numbers.at("sum")[0].item<float>(), 20.0F);
}

}  // namespace
}  // namespace sagips::env
