// Knobs of the GAN that are off unless asked for.
#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "sagips/optim/gan/gan.hpp"
#include "tests/core/message_of.hpp"
#include "tests/optim/small_environment.hpp"

namespace sagips::optim {
namespace {

using namespace sagips::testing;
using Kind = GradientPenaltyConfig::Kind;

std::string refusal(const GanConfig& config) {
  const env::Environment environment = small_environment();
  return message_of<core::ConfigError>([&] { Gan(config, environment, 1, torch::kCPU); });
}

TEST(DiscriminatorSteps, ComeBeforeTheGeneratorsAndHaveEventsOfTheirOwn) {
  const env::Environment environment = small_environment(2);
  GanConfig config = small_gan();
  Gan once(config, environment, 1, torch::kCPU);
  config.optimizer.discriminator_steps = 2;
  Gan twice(config, environment, 1, torch::kCPU);
  std::string words;
  for (const Action& action : twice.schedule())
    words += action.kind == Action::Kind::update
                 ? "update " + twice.steps()[action.index].name + "; "
                 : twice.passes()[action.index].name + "; ";
  EXPECT_EQ(words,
            "discriminator near; update discriminator near; discriminator step 2 near; update "
            "discriminator near; discriminator far; update discriminator far; discriminator step 2 "
            "far; update discriminator far; generator; update generator; ");

  const GanBatch plain = once.batch(3);
  GanBatch batch = twice.batch(3);
  ASSERT_EQ(batch.further.size(), 1U);
  EXPECT_TRUE(torch::equal(batch.noise, plain.noise)) << "the first step is that of one";
  EXPECT_TRUE(torch::equal(batch.channels[1].real, plain.channels[1].real));
  EXPECT_FALSE(torch::equal(batch.further[0].noise, plain.noise));
  EXPECT_FALSE(torch::equal(batch.further[0].channels[1].real, plain.channels[1].real));

  gradients_of(twice, 1, batch);
  const torch::Tensor first = twice.discriminator(0).gradients().clone();
  gradients_of(twice, 3, batch);
  EXPECT_FALSE(torch::equal(twice.discriminator(0).gradients(), first)) << "of other events";
}

TEST(DiscriminatorSteps, AreRefusedWhereThereAreNoEventsForThem) {
  GanConfig config = small_gan(UpdateOrder::generator_first);
  config.optimizer.discriminator_steps = 2;
  EXPECT_NE(refusal(config).find("optimizer.discriminator_steps"), std::string::npos);
  config = small_gan();
  config.optimizer.discriminator_steps = 2;
  config.optimizer.update = UpdateMode::simultaneous;
  EXPECT_NE(refusal(config).find("optimizer.discriminator_steps"), std::string::npos);
}

TEST(Wasserstein, WantsSomethingThatBoundsTheSlope) {
  GanConfig config = small_gan();
  config.objective.loss = "wasserstein";
  EXPECT_EQ(refusal(config).find("objective.loss: with wasserstein nothing bounds"), 0U);
  const auto makes_one = [](const GanConfig& chosen) {
    const env::Environment environment = small_environment();
    Gan gan(chosen, environment, 1, torch::kCPU);
  };
  config.discriminator.spectral_norm = true;
  EXPECT_NO_THROW(makes_one(config));
  config.discriminator.spectral_norm = false;
  config.discriminator.gradient_penalty.kind = Kind::wasserstein;
  EXPECT_NO_THROW(makes_one(config));
}

// What the penalty adds to the discriminator's gradients, tile or no tile, is that of its formula.
TEST(GradientPenalty, IsAddedToTheDiscriminatorsGradients) {
  const env::Environment environment = small_environment();
  GanConfig config = small_gan();
  Gan plain(config, environment, 1, torch::kCPU);
  config.discriminator.gradient_penalty = {.kind = Kind::r1, .factor = 5};
  Gan gan(config, environment, 1, torch::kCPU);
  EXPECT_EQ(gan.passes()[1].loss_names,
            (std::vector<std::string>{"discriminator_real", "discriminator_synthetic",
                                      "discriminator_penalty"}));
  GanBatch batch = gan.batch(1);
  gradients_of(plain, 1, batch);
  const std::vector<double> losses = gradients_of(gan, 1, batch);

  const env::Moments moments = env::Moments::of(environment.channels[0].training.values);
  nn::Leaves leaves = gan.discriminator(0).make_leaves();
  const PenaltyRows rows{(batch.channels[0].real - moments.mean) / moments.deviation, {}, {}, {}};
  const double value =
      add_gradient_penalty(Kind::r1, 5, *config.discriminator.network.network(1, 1), rows, 1,
                           leaves)
          .item<double>();
  EXPECT_NEAR(losses[2], value, 1e-5 * value);
  const torch::Tensor added = gan.discriminator(0).gradients() - plain.discriminator(0).gradients();
  EXPECT_LT((added - leaves.gradients).norm().item<double>(),
            1e-5 * leaves.gradients.norm().item<double>());
  gan.discriminator(0).check_views();
}

// x + s (1 - t) d n with the data's deviation d, by hand.
TEST(InstanceNoise, BlursWhatTheDiscriminatorSeesUntilTheRunEnds) {
  const env::Environment environment = small_environment();
  const env::Moments moments = env::Moments::of(environment.channels[0].training.values);
  for (const auto input :
       {DiscriminatorConfig::Input::raw, DiscriminatorConfig::Input::standardised}) {
    GanConfig config = small_gan();
    config.discriminator.input = input;
    Gan plain(config, environment, 1, torch::kCPU);
    config.discriminator.instance_noise = 0.8;
    Gan gan(config, environment, 1, torch::kCPU);
    GanBatch batch = gan.batch(2);
    batch.progress = 0.25;

    env::Noise noise(std::make_shared<env::PhiloxNoise>(
                         core::RandomStream(1, "discriminator measured instance noise near", 2)),
                     16, 10);
    const torch::Tensor normal = noise.normal().reshape({160, 1});
    torch::Tensor x = batch.channels[0].real + 0.8 * 0.75 * moments.deviation * normal;
    if (input == DiscriminatorConfig::Input::standardised)
      x = (x - moments.mean) / moments.deviation;
    const auto network = config.discriminator.network.network(1, 1);
    const torch::Tensor output = torch::sigmoid((*network)(gan.discriminator(0).leaves(), x, {}));
    EXPECT_NEAR(gradients_of(gan, 1, batch)[0], (output - 1).square().mean().item<double>() / 0.25,
                1e-5);

    batch.progress = 1;
    for (const std::size_t pass : {0, 1})
      EXPECT_EQ(gradients_of(gan, pass, batch), gradients_of(plain, pass, batch));
    batch.progress = 0;
    EXPECT_NE(gradients_of(gan, 0, batch), gradients_of(plain, 0, batch))
        << "the generator is judged by blurred events, too";
  }
}

TEST(Stabilisers, LeaveTheStateAloneUnlessTheyAreOn) {
  const env::Environment environment = small_environment();
  GanConfig config = small_gan();
  Gan plain(config, environment, 1, torch::kCPU);
  config.discriminator.spectral_norm = true;
  config.generator.average = 0.9;
  config.optimizer.generator.optimistic = true;
  Gan gan(config, environment, 1, torch::kCPU);
  const nn::State one = nn::give_state(plain), other = nn::give_state(gan);
  for (const char* name : {"discriminator_near_spectral_norm.left0", "generator_average.mean",
                           "generator_update.direction"}) {
    EXPECT_EQ(one.count(name), 0U) << name;
    EXPECT_EQ(other.count(name), 1U) << name;
  }
}

}  // namespace
}  // namespace sagips::optim
