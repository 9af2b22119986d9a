// The score of an environment as a function of its parameters.
#include <gtest/gtest.h>

#include "sagips/optim/search/event_score.hpp"
#include "tests/env/noise_of.hpp"
#include "tests/optim/small_environment.hpp"

namespace sagips::optim {
namespace {

using namespace sagips::testing;

env::EventDistance::Config quick_distance(double reference_weight = 0) {
  env::EventDistance::Config config;
  config.events = 1000;
  config.reference_weight = reference_weight;
  return config;
}

torch::Tensor points() {
  return torch::tensor({{1.5, 0.5}, {1.0, 0.5}, {1.5, 1.0}}, torch::kFloat64);
}

TEST(EventScore, IsLowestAtTheTruth) {
  const env::Environment environment = small_environment();
  const EventScore score(environment, quick_distance(), 1);
  const torch::Tensor scores = score.infer(points());
  EXPECT_LT(std::abs(scores[0].item<double>()), 0.01);
  EXPECT_GT(scores[1].item<double>(), 0.1);
  EXPECT_GT(scores[2].item<double>(), 0.02);
}

TEST(EventScore, GivesAPointTheSameScoreInAnyCompany) {
  const env::Environment environment = small_environment(2);
  const EventScore score(environment, quick_distance(1), 1);
  const torch::Tensor together = score.infer(points());
  for (std::int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(score.infer(points().narrow(0, i, 1)).item<double>(), together[i].item<double>());
  const torch::Tensor trained = score(points(), 0);
  EXPECT_TRUE(torch::equal(score(points(), 0), trained));
  EXPECT_FALSE(torch::equal(score(points(), 1), trained)) << "another step, other noise";
}

TEST(EventScore, AddsChannels) {
  const env::Environment both = small_environment(2);
  env::Environment near = both, far = both;
  near.channels = {both.channels[0]};
  far.channels = {both.channels[1]};
  const torch::Tensor sum = EventScore(both, quick_distance(), 1).infer(points());
  const torch::Tensor first = EventScore(near, quick_distance(), 1).infer(points());
  const torch::Tensor second = EventScore(far, quick_distance(), 1).infer(points());
  EXPECT_LT(largest(sum - first - second), 1e-12);
  EXPECT_GT(sum[1].item<double>(), 1.8 * first[1].item<double>());
}

// level = mean + width, 2.0 at the truth
TEST(EventScore, AddsSquaredRelativeDeviationsOfReferenceNumbers) {
  const env::Environment environment = small_environment();
  const torch::Tensor without = EventScore(environment, quick_distance(0), 1).infer(points());
  const torch::Tensor with = EventScore(environment, quick_distance(3), 1).infer(points());
  EXPECT_LT(largest(with - without - doubles({0, 3 * 0.0625, 3 * 0.0625})), 1e-6);
}

// the noise is float32, so differences are taken over a hundredth
TEST(EventScore, HasAGradient) {
  const env::Environment environment = small_environment();
  const EventScore score(environment, quick_distance(1), 1);
  const torch::Tensor at = points().narrow(0, 1, 1).clone().requires_grad_();
  const torch::Tensor slope = torch::autograd::grad({score(at, 0).sum()}, {at})[0];
  for (std::int64_t i = 0; i < 2; ++i) {
    torch::Tensor step = torch::zeros({1, 2}, torch::kFloat64);
    step[0][i] = 0.01;
    const double difference =
        (score(at.detach() + step, 0) - score(at.detach() - step, 0)).item<double>() / 0.02;
    EXPECT_NEAR(slope[0][i].item<double>(), difference, 0.01 * std::abs(difference) + 1e-3);
  }
}

TEST(EventScore, IsInfiniteWhereThePipelineGivesNothingFinite) {
  env::Environment environment = small_environment();
  const EventScore score(environment, quick_distance(), 1);
  const torch::Tensor scores =
      score.infer(torch::tensor({{1.5, 0.5}, {std::nan(""), 0.5}}, torch::kFloat64));
  EXPECT_TRUE(std::isfinite(scores[0].item<double>()));
  EXPECT_EQ(scores[1].item<double>(), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace sagips::optim
