#include "sagips/optim/warm_start.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sagips/optim/moment_model.hpp"
#include "sagips/optim/newton_bias.hpp"
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
    const nn::Mlp network(1, 1, config.discriminator.network);
    const torch::Tensor logit =
        network(gan.discriminator(0).leaves().tensors, seen).squeeze(-1).detach();
    EXPECT_TRUE(torch::allclose(before, torch::tanh(logit / 2), 1e-4, 1e-5));

    torch::NoGradGuard no_grad;
    gan.discriminator(0).weights().add_(0.5);
    EXPECT_TRUE(torch::equal(feature.of(events), before));
  }
}

/// Biases of a generator, and what the test says their gradient is.
struct Biases {
  explicit Biases(Gan& gan) : replica(gan.generator()) {
    const std::size_t last = replica.parameters().size() - 1;
    value = replica.view(replica.weights(), last);
    gradient = replica.view(replica.gradients(), last);
  }
  nn::Replica& replica;
  torch::Tensor value, gradient;
};

TEST(NewtonBias, StepsByTheInverseInformation) {
  const env::Environment environment = small_environment();
  Gan gan(small_gan(), environment, 4, torch::kCPU);
  Biases biases(gan);
  const NewtonConfig config{.every = 10, .rate = 0.5, .longest = 100};
  NewtonBias newton(config, biases.replica, environment, {}, 5);
  const torch::Tensor theta =
      environment.parameters.logit_from_physical(environment.parameters.truth());
  newton.before(1, theta);
  const torch::Tensor kept = biases.value.clone();
  biases.value.add_(7);  // whatever Adam does to them
  biases.gradient.copy_(torch::tensor({0.3F, -0.2F}));
  newton.after();

  SolveContext context;
  context.seed = 5;
  const MomentModel model(environment, {}, context);
  const torch::Tensor jacobian =
      model.jacobian(theta, MomentsConfig{}.events_for(model.data_events()));
  const torch::Tensor information = torch::matmul(jacobian.t(), jacobian) / model.data_events();
  const torch::Tensor expected =
      kept.to(torch::kFloat64) -
      0.5 * torch::linalg_solve(information, torch::tensor({0.3, -0.2}, torch::kFloat64));
  EXPECT_TRUE(torch::allclose(biases.value.to(torch::kFloat64), expected, 1e-4, 1e-5));
}

TEST(NewtonBias, LimitsAStepAndRenewsItsInformationInTime) {
  const env::Environment environment = small_environment();
  Gan gan(small_gan(), environment, 6, torch::kCPU);
  Biases biases(gan);
  NewtonBias newton({.every = 3, .rate = 1, .longest = 0.1}, biases.replica, environment, {}, 7);
  const auto inverse = [&] {
    nn::State state;
    nn::StateList list = nn::StateList::giving(state);
    newton.state(list);
    return state.at("inverse").clone();
  };
  const torch::Tensor first = torch::zeros({2}), second = torch::full({2}, 0.5);
  newton.before(1, first);
  const torch::Tensor at_first = inverse();
  newton.before(3, second);
  EXPECT_TRUE(torch::equal(inverse(), at_first));
  newton.before(4, second);
  EXPECT_FALSE(torch::equal(inverse(), at_first));
  const torch::Tensor kept = biases.value.clone();
  biases.gradient.fill_(1e6F);
  newton.after();
  EXPECT_NEAR((biases.value - kept).abs().max().item<double>(), 0.1, 1e-6);
}

TEST(NewtonBias, BelongsToTheStateOfTheGan) {
  const env::Environment environment = small_environment();
  GanConfig config = small_gan();
  config.optimizer.newton.every = 5;
  Gan gan(config, environment, 8, torch::kCPU);
  nn::State state;
  nn::StateList list = nn::StateList::giving(state);
  gan.state(list);
  EXPECT_TRUE(state.count("generator_newton.inverse"));
  EXPECT_TRUE(state.count("generator_newton.renewed"));
}

}  // namespace
}  // namespace sagips::optim
