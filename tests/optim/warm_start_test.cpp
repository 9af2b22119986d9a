#include "sagips/optim/gan/warm_start.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/optim/small_environment.hpp"

namespace sagips::optim {
namespace {

using testing::small_environment;
using testing::small_gan;

torch::Tensor logits_of(Gan& gan, const env::Environment& environment) {
  return environment.parameters.logit_from_physical(gan.predict(20'000).to(torch::kFloat64));
}

TEST(Generator, BeginsWithAGivenMeanAndCovariance) {
  const env::Environment environment = small_environment();
  Gan gan(small_gan(), environment, 1, torch::kCPU);
  const torch::Tensor theta = torch::tensor({0.4, -0.9}, torch::kFloat64);
  const torch::Tensor covariance = torch::tensor({{0.04, -0.012}, {-0.012, 0.01}}, torch::kFloat64);
  gan.begin_at(theta, covariance);
  const torch::Tensor found = logits_of(gan, environment);
  // 20,000 proposals, moved by 8,192 others: errors of 0.003 and 0.0015; 3.5 of these
  EXPECT_NEAR(found.select(1, 0).mean().item<double>(), 0.4, 0.011);
  EXPECT_NEAR(found.select(1, 1).mean().item<double>(), -0.9, 0.0055);
  const torch::Tensor scatter = torch::cov(found.t());
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 2; ++j)
      EXPECT_NEAR((scatter[i][j] - covariance[i][j]).item<double>(), 0,
                  0.15 * std::sqrt((covariance[i][i] * covariance[j][j]).item<double>()));
}

TEST(WarmStart, PutsTheProposalsWhereTheMomentsAre) {
  const env::Environment environment = small_environment();
  Gan gan(small_gan(), environment, 2, torch::kCPU);
  SolveContext context;
  context.seed = 3;
  const Solution solution = warm_start(gan, environment, {}, context);
  const torch::Tensor proposals = gan.predict(20'000).to(torch::kFloat64);
  for (std::int64_t i = 0; i < 2; ++i) {
    const auto k = static_cast<std::size_t>(i);
    EXPECT_NEAR(proposals.select(1, i).mean().item<double>(), solution.values[k],
                0.1 * solution.errors[k]);
    EXPECT_NEAR(proposals.select(1, i).std().item<double>() / solution.errors[k], 1, 0.15);
  }
}

TEST(Discriminator, IsAFeatureThatLaterLearningDoesNotChange) {
  const env::Environment environment = small_environment();
  for (const auto input :
       {DiscriminatorConfig::Input::raw, DiscriminatorConfig::Input::standardised}) {
    GanConfig config = small_gan();
    config.discriminator.input = input;
    Gan gan(config, environment, 9, torch::kCPU);
    const env::Feature feature = gan.feature(0);
    const torch::Tensor events = environment.channels[0].training.values.narrow(0, 0, 50);
    const torch::Tensor before = feature.of(events);
    EXPECT_EQ(before.sizes(), (std::vector<std::int64_t>{50}));
    EXPECT_LE(before.abs().max().item<double>(), 1);

    const bool is_raw = input == DiscriminatorConfig::Input::raw;
    const env::Moments moments = environment.channels[0].moments_or_own();
    const torch::Tensor seen = is_raw ? events : (events - moments.mean) / moments.deviation;
    const auto network = config.discriminator.network.network(1, 1);
    const torch::Tensor logit =
        (*network)(gan.discriminator(0).leaves(), seen, {}).squeeze(-1).detach();
    EXPECT_TRUE(torch::allclose(before, torch::tanh(logit / 2), 1e-4, 1e-5));

    torch::NoGradGuard no_grad;
    gan.discriminator(0).weights().add_(0.5);
    EXPECT_TRUE(torch::equal(feature.of(events), before));
  }
}

}  // namespace
}  // namespace sagips::optim
