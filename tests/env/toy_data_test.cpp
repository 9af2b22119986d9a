#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "sagips/env/environment.hpp"
#include "tests/core/message_of.hpp"
#include "tests/env/noise_of.hpp"
#include "tests/env/small_stages.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

core::RandomStream stream() { return {5, "toys"}; }

// Mean and variance of 10,000 events within 5 deviations: false alarm 1.2e-6.
TEST(ToyData, AreThePipelinesEventsWithItsNumbers) {
  const Pipeline pipeline{WithNumber{}, Gauss{}};
  const data::Dataset toys = toy_data(pipeline, doubles({2, 0.5}), 10'000, {"x"}, stream());
  EXPECT_EQ(toys.values.sizes(), (std::vector<std::int64_t>{10'000, 1}));
  EXPECT_EQ(toys.observables, std::vector<std::string>{"x"});
  EXPECT_EQ(toys.reference.at("sum"), 25.0) << "of the inference form";
  const torch::Tensor pulls = (toys.values.to(torch::kFloat64) - 2) / 0.5;
  EXPECT_LT(std::abs(pulls.mean().item<double>()), 5 * 0.01);
  EXPECT_LT(std::abs(chi_square_pull(pulls.square().sum().item<double>(), 10'000)), 5);
}

TEST(ToyData, AreTheSameFirstEventsForAnySize) {
  const Pipeline pipeline{Gauss{}};
  const torch::Tensor many = toy_data(pipeline, doubles({2, 0.5}), 2'500, {"x"}, stream()).values;
  const torch::Tensor few = toy_data(pipeline, doubles({2, 0.5}), 1'300, {"x"}, stream()).values;
  EXPECT_TRUE(torch::equal(many.narrow(0, 0, 1'300), few));
}

/// Inference keeps events above a threshold.
struct Above {
  float threshold;
  Events operator()(Events events, Noise&) const { return events; }
  Events infer(Events events, Noise&) const {
    events.mask = events.values.select(2, 0) > threshold;
    return events;
  }
};

TEST(ToyData, HoldExactlyTheEventsAskedForAfterASelection) {
  const Pipeline pipeline{Gauss{}, Above{2.5F}};
  const data::Dataset toys = toy_data(pipeline, doubles({2, 0.5}), 3'000, {"x"}, stream());
  EXPECT_EQ(toys.size(), 3'000);
  EXPECT_GT(toys.values.min().item<float>(), 2.5F);
  // single precision holds about a million values up there: 3,000 events share a handful of them
  EXPECT_GT(std::get<0>(torch::_unique(toys.values)).numel(), 2'950) << "no event comes again";
}

TEST(ToyData, GiveUpWhenNothingPasses) {
  const Pipeline pipeline{Gauss{}, Above{100.0F}};
  EXPECT_NE(message_of<core::DataError>([&] {
              toy_data(pipeline, doubles({2, 0.5}), 10, {"x"}, stream());
            }).find("only 0 of 1000000 events pass the selection"),
            std::string::npos);
}

// A normal distribution has 3.2e-5 beyond 4 deviations: 1,000 such events would take 32 million.
TEST(ToyData, GiveUpWhenFewerThanOneOfAThousandPass) {
  const Pipeline pipeline{Gauss{}, Above{4.0F}};
  const std::string message = message_of<core::DataError>([&] {
    toy_data(pipeline, doubles({2, 0.5}), 1'000, {"x"}, stream());
  });
  EXPECT_NE(message.find(" of 1000000 events pass the selection (it needs 1 of 1000)"),
            std::string::npos)
      << message;
}

/// Gives weights in either form.
struct Weighs {
  Events operator()(Events events, Noise&) const {
    events.weights = events.values.select(2, 0).square();
    return events;
  }
};

TEST(ToyData, KeepTheirWeightsWhereAsked) {
  const data::Dataset toys = toy_data(Pipeline{Gauss{}, Weighs{}}, doubles({2, 0.5}), 1'500, {"x"},
                                      stream(), ToyWeights::kept);
  ASSERT_TRUE(toys.weights.has_value());
  EXPECT_TRUE(torch::equal(*toys.weights, toys.values.select(1, 0).square()));
}

// With weight x^2 a normal x of mean 2, deviation 1/2 has mean 9.5 / 4.25 and variance 22.1875 / 4.25
// less its square. 10,000 events within 5 deviations: false alarm 1.2e-6.
TEST(ToyData, AreAcceptedByTheirWeights) {
  const data::Dataset toys =
      toy_data(Pipeline{Gauss{}, Weighs{}}, doubles({2, 0.5}), 10'000, {"x"}, stream());
  EXPECT_FALSE(toys.weights.has_value());
  EXPECT_EQ(toys.size(), 10'000);
  const double mean = 9.5 / 4.25, variance = 22.1875 / 4.25 - mean * mean;
  const torch::Tensor pulls = (toys.values.to(torch::kFloat64) - mean) / std::sqrt(variance);
  EXPECT_LT(std::abs(pulls.mean().item<double>()), 5 * 0.01);
  EXPECT_NE(toys.origin.find(", accepted by their weights: "), std::string::npos) << toys.origin;
}

/// Gives a weight of zero below a threshold, and one of -1 far below.
struct WeighsNothing {
  float below;
  Events operator()(Events events, Noise&) const {
    const torch::Tensor x = events.values.select(2, 0);
    events.weights = (x > below).to(torch::kFloat32) - (x < -100).to(torch::kFloat32);
    return events;
  }
};

TEST(ToyData, GiveUpWhereWeightsAcceptNothingOrAreNegative) {
  const auto message = [](double mean, float below) {
    return message_of<core::DataError>([&] {
      toy_data(Pipeline{Gauss{}, WeighsNothing{below}}, doubles({mean, 0.5}), 10, {"x"}, stream());
    });
  };
  EXPECT_NE(message(2, 90).find("events are accepted by their weights (it needs 1 of 1000)"),
            std::string::npos)
      << message(2, 90);
  EXPECT_NE(message(-200, 90).find("a negative weight"), std::string::npos) << message(-200, 90);
}

}  // namespace
}  // namespace sagips::env
