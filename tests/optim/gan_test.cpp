#include "sagips/optim/gan/gan.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"
#include "tests/optim/small_environment.hpp"

namespace sagips::optim {
namespace {

using namespace sagips::testing;

// Its steps point into it.
static_assert(!std::is_copy_constructible_v<Gan> && !std::is_move_constructible_v<Gan> &&
              !std::is_move_assignable_v<Gan>);

std::string spelled(Gan& gan) {
  std::string words;
  for (const Action& action : gan.schedule())
    words += action.kind == Action::Kind::update
                 ? "update " + gan.steps()[action.index].name + "; "
                 : "gradients " + gan.passes()[action.index].name + "; ";
  return words;
}

TEST(Gan, TakesItsStepsInTheConfiguredOrder) {
  const env::Environment environment = small_environment();
  Gan paper(small_gan(), environment, 1, torch::kCPU);
  EXPECT_EQ(
      spelled(paper),
      "gradients discriminator; update discriminator; gradients generator; update generator; ");
  Gan other(small_gan(UpdateOrder::generator_first), environment, 1, torch::kCPU);
  EXPECT_EQ(
      spelled(other),
      "gradients generator; gradients discriminator; update discriminator; update generator; ");
}

TEST(Gan, UpdatesBothNetworksFromOnePassWhenToldTo) {
  const env::Environment environment = small_environment(2);
  GanConfig config = small_gan();
  config.optimizer.update = UpdateMode::simultaneous;
  Gan gan(config, environment, 1, torch::kCPU);
  EXPECT_EQ(spelled(gan),
            "gradients both networks; update discriminator near; update discriminator far; "
            "update generator; ");
  EXPECT_EQ(gan.passes()[0].loss_names,
            (std::vector<std::string>{"generator", "reference", "discriminator_real near",
                                      "discriminator_synthetic near", "discriminator_real far",
                                      "discriminator_synthetic far"}));
  GanBatch batch = gan.batch(1);
  EXPECT_EQ(gradients_of(gan, 0, batch).size(), gan.passes()[0].loss_names.size());
}

TEST(Gan, RefusesAnOrderOfSimultaneousUpdates) {
  const env::Environment environment = small_environment();
  for (const bool late : {false, true}) {
    GanConfig config =
        small_gan(late ? UpdateOrder::discriminator_first : UpdateOrder::generator_first);
    config.optimizer.update = UpdateMode::simultaneous;
    if (late) config.optimizer.overlap = Overlap::one_update_late;
    EXPECT_NE(message_of<core::ConfigError>([&] {
                Gan(config, environment, 1, torch::kCPU);
              }).find("optimizer.update"),
              std::string::npos);
  }
}

TEST(Gan, HasADiscriminatorAChannel) {
  const env::Environment environment = small_environment(2);
  Gan gan(small_gan(UpdateOrder::generator_first), environment, 1, torch::kCPU);
  EXPECT_EQ(spelled(gan),
            "gradients generator; gradients discriminator near; update discriminator near; "
            "gradients discriminator far; update discriminator far; update generator; ");
  EXPECT_FALSE(torch::equal(gan.discriminator(0).weights(), gan.discriminator(1).weights()));
  EXPECT_EQ(gan.passes()[2].loss_names,
            (std::vector<std::string>{"discriminator_real far", "discriminator_synthetic far"}));
}

TEST(Gan, DrawsBatchesThatDependOnSeedAndEpochAlone) {
  const env::Environment environment = small_environment(2);
  Gan gan(small_gan(), environment, 1, torch::kCPU), same(small_gan(), environment, 1, torch::kCPU);
  Gan other(small_gan(), environment, 2, torch::kCPU);
  same.batch(7);
  const GanBatch batch = gan.batch(3), again = same.batch(3);
  EXPECT_EQ(batch.noise.sizes(), (std::vector<std::int64_t>{16, 3}));
  ASSERT_EQ(batch.channels.size(), 2U);
  EXPECT_EQ(batch.channels[1].real.sizes(), (std::vector<std::int64_t>{160, 1}));
  EXPECT_TRUE(torch::equal(batch.noise, again.noise));
  EXPECT_TRUE(torch::equal(batch.channels[1].real, again.channels[1].real));
  for (const GanBatch& different : {gan.batch(4), other.batch(3)}) {
    EXPECT_FALSE(torch::equal(batch.noise, different.noise));
    EXPECT_FALSE(torch::equal(batch.channels[0].real, different.channels[0].real));
  }
}

TEST(Gan, GivesASampleTheSameNoiseInEveryBatchSize) {
  const env::Environment environment = small_environment();
  GanConfig larger = small_gan();
  larger.batch.samples = 40;
  const GanBatch few = Gan(small_gan(), environment, 1, torch::kCPU).batch(1);
  const GanBatch many = Gan(larger, environment, 1, torch::kCPU).batch(1);
  EXPECT_TRUE(torch::equal(few.noise, many.noise.narrow(0, 0, 16)));
}

TEST(Gan, PredictsTheSameProposalsInsideTheRanges) {
  const env::Environment environment = small_environment();
  Gan gan(small_gan(), environment, 1, torch::kCPU);
  const torch::Tensor proposals = gan.predict(500);
  EXPECT_EQ(proposals.sizes(), (std::vector<std::int64_t>{500, 2}));
  EXPECT_FALSE(proposals.requires_grad());
  EXPECT_TRUE(torch::equal(proposals.narrow(0, 0, 20), gan.predict(20)));
  const torch::Tensor unit = environment.parameters.unit_from_physical(proposals);
  EXPECT_GT(unit.min().item<float>(), 0.0F);
  EXPECT_LT(unit.max().item<float>(), 1.0F);
}

void zero(nn::Replica& replica) {
  torch::NoGradGuard no_grad;
  replica.weights().zero_();
}

TEST(Gan, PrintsLossesOfOneWhenTheDiscriminatorCannotTell) {
  for (const char* loss : {"least_squares", "cross_entropy"}) {
    GanConfig config = small_gan();
    config.objective.loss = loss;
    const env::Environment environment = small_environment(2);
    Gan gan(config, environment, 1, torch::kCPU);
    zero(gan.discriminator(0));
    zero(gan.discriminator(1));
    GanBatch batch = gan.batch(1);
    for (std::size_t step = 0; step < 3; ++step) {
      const std::vector<double> losses = gradients_of(gan, step, batch);
      EXPECT_NEAR(losses[0], 1, 1e-6) << loss << " of " << gan.steps()[step].name;
      if (step > 0) {
        EXPECT_NEAR(losses[1], 1, 1e-6) << loss;
      }
    }
  }
}

// The input is (x - mean) / deviation of the measured events, or x itself.
TEST(Gan, ShowsTheDiscriminatorStandardisedOrRawEvents) {
  const env::Environment environment = small_environment();
  const torch::Tensor data = environment.channels[0].training.values;
  for (const auto input :
       {DiscriminatorConfig::Input::raw, DiscriminatorConfig::Input::standardised}) {
    GanConfig config = small_gan();
    config.discriminator.input = input;
    Gan gan(config, environment, 1, torch::kCPU);
    GanBatch batch = gan.batch(1);
    torch::Tensor x = batch.channels[0].real;
    if (input == DiscriminatorConfig::Input::standardised)
      x = (x - data.mean(0)) / data.std(0, false);
    const auto network = config.discriminator.network.network(1, 1);
    const torch::Tensor output = torch::sigmoid((*network)(gan.discriminator(0).leaves(), x, {}));
    EXPECT_NEAR(gradients_of(gan, 1, batch)[0], (output - 1).square().mean().item<double>() / 0.25,
                1e-6);
  }
}

TEST(Gan, AddsTheReferenceTermsOfEveryChannel) {
  const env::Environment environment = small_environment(2);
  Gan gan(small_gan(), environment, 1, torch::kCPU);
  EXPECT_EQ(gan.passes()[0].loss_names, (std::vector<std::string>{"generator", "reference"}));
  GanBatch batch = gan.batch(1);
  const std::vector<double> losses = gradients_of(gan, 0, batch);
  // the generator network by hand; level = (mean + width) unit, its truth 2 unit
  const auto network = small_gan().generator.network.network(3, 2);
  const torch::Tensor levels =
      environment.parameters
          .physical_from_logit((*network)(gan.generator().leaves(), batch.noise, {}))
          .sum(1);
  const double near = (levels - 2).square().mean().item<double>();
  EXPECT_NEAR(losses[1], near * 1.01, 1e-5 * near);

  GanConfig without = small_gan();
  without.objective.reference_terms = ReferenceTerms::none;
  const env::Environment plain = small_environment();
  Gan free_of_terms(without, plain, 1, torch::kCPU);
  EXPECT_EQ(free_of_terms.passes()[0].loss_names, std::vector<std::string>{"generator"});
}

// Variance of the logits over the batch, mean over parameters; its whole gradient, the mean's
// included.
TEST(Gan, DrawsItsProposalsTogetherWhereTheConfigSaysSo) {
  const env::Environment environment = small_environment();
  GanConfig with = small_gan();
  with.objective.reference_terms = ReferenceTerms::none;
  Gan plain(with, environment, 1, torch::kCPU);
  with.generator.spread_penalty = 0.7;
  Gan gan(with, environment, 1, torch::kCPU);
  EXPECT_EQ(gan.passes()[0].loss_names, (std::vector<std::string>{"generator", "spread"}));
  GanBatch batch = gan.batch(1);
  const std::vector<double> losses = gradients_of(gan, 0, batch);
  gradients_of(plain, 0, batch);

  const auto leaves = plain.generator().make_leaves();
  const torch::Tensor logits = (*with.generator.network.network(3, 2))(leaves, batch.noise, {});
  const torch::Tensor variance = logits.var(0, false).mean();
  EXPECT_NEAR(losses[1], variance.item<double>(), 1e-6);
  (variance * 0.7).backward({}, {}, false, leaves.tensors);
  const torch::Tensor added = gan.generator().gradients() - plain.generator().gradients();
  EXPECT_LT((added - leaves.gradients).norm().item<double>(),
            1e-5 * leaves.gradients.norm().item<double>());
}

TEST(Gan, LeavesTheOtherNetworksGradientsAlone) {
  const env::Environment environment = small_environment();
  for (const auto order : {UpdateOrder::discriminator_first, UpdateOrder::generator_first}) {
    Gan gan(small_gan(order), environment, 1, torch::kCPU);
    GanBatch batch = gan.batch(1);
    gradients_of(gan, 0, batch);
    EXPECT_EQ(gan.discriminator(0).gradients().abs().max().item<float>(), 0.0F);
    const torch::Tensor generator = gan.generator().gradients().clone();
    EXPECT_GT(generator.abs().max().item<float>(), 0.0F);
    gradients_of(gan, 1, batch);
    EXPECT_GT(gan.discriminator(0).gradients().abs().max().item<float>(), 0.0F);
    EXPECT_TRUE(torch::equal(gan.generator().gradients(), generator));
    gan.generator().check_views();
    gan.discriminator(0).check_views();
  }
}

/// The steps for which a Gan asks for event noise during an epoch's gradients.
std::vector<std::string> noise_requests(UpdateOrder order) {
  const env::Environment environment = small_environment();
  Gan gan(small_gan(order), environment, 1, torch::kCPU);
  std::vector<std::string> requests;
  gan.set_noise([&](const std::string& step, std::size_t, std::uint32_t epoch) {
    requests.push_back(step);
    return std::make_shared<env::PhiloxNoise>(core::RandomStream(1, step, epoch));
  });
  GanBatch batch = gan.batch(1);
  for (const Action& action : gan.schedule())
    if (action.kind == Action::Kind::gradients) gradients_of(gan, action.index, batch);
  return requests;
}

TEST(Gan, DrawsFreshEventsForEachStepOnlyInThePapersOrder) {
  EXPECT_EQ(noise_requests(UpdateOrder::discriminator_first),
            (std::vector<std::string>{"discriminator", "generator"}));
  EXPECT_EQ(noise_requests(UpdateOrder::generator_first), std::vector<std::string>{"generator"});
}

TEST(Gan, ShowsTheDiscriminatorTheGeneratorsOwnEventsInTheOtherOrder) {
  const env::Environment environment = small_environment();
  GanConfig config = small_gan(UpdateOrder::generator_first);
  config.discriminator.input = DiscriminatorConfig::Input::raw;
  Gan gan(config, environment, 1, torch::kCPU);
  GanBatch batch = gan.batch(1);
  gradients_of(gan, 0, batch);
  ASSERT_EQ(batch.channels[0].kept.size(), 1U);
  const env::Events& kept = batch.channels[0].kept[0];
  EXPECT_FALSE(kept.values.requires_grad());

  env::Noise noise(
      std::make_shared<env::PhiloxNoise>(core::RandomStream(1, "generator events near", 1)), 16,
      10);
  const auto generator = config.generator.network.network(3, 2);
  const env::Events expected =
      environment.channels[0].pipeline(environment.parameters.physical_from_logit(
                                           (*generator)(gan.generator().leaves(), batch.noise, {})),
                                       noise);
  EXPECT_TRUE(torch::allclose(kept.values, expected.values));
  const auto network = config.discriminator.network.network(1, 1);
  const torch::Tensor output =
      torch::sigmoid((*network)(gan.discriminator(0).leaves(), kept.values, {}));
  EXPECT_NEAR(gradients_of(gan, 1, batch)[1], output.square().mean().item<double>() / 0.25, 1e-6);
}

TEST(Gan, TakesTheStateOfAnother) {
  const env::Environment environment = small_environment(2);
  Gan gan(small_gan(), environment, 1, torch::kCPU),
      other(small_gan(), environment, 2, torch::kCPU);
  EXPECT_FALSE(torch::equal(gan.generator().weights(), other.generator().weights()));
  const nn::State state = nn::give_state(gan);
  nn::take_state(other, state);
  EXPECT_TRUE(torch::equal(gan.generator().weights(), other.generator().weights()));
  EXPECT_TRUE(torch::equal(gan.discriminator(1).weights(), other.discriminator(1).weights()));
  EXPECT_EQ(state.count("discriminator_far_update.square"), 1U);
}

TEST(Gan, RefusesTheStateOfAnotherNetwork) {
  const env::Environment environment = small_environment();
  GanConfig wider = small_gan();
  wider.discriminator.network.width = 9;
  Gan gan(small_gan(), environment, 1, torch::kCPU), other(wider, environment, 1, torch::kCPU);
  const nn::State state = nn::give_state(gan);
  EXPECT_NE(message_of<core::StateError>([&] {
              nn::take_state(other, state);
            }).find("'discriminator_near.weights'"),
            std::string::npos);
}

}  // namespace
}  // namespace sagips::optim
