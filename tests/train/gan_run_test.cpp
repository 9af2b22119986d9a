// The GAN in the loop: it repeats itself, does not depend on tiles, goes on from its state, and
// learns.
#include <gtest/gtest.h>

#include "tests/train/gan_training.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;
using optim::UpdateOrder;

class EitherOrder : public ::testing::TestWithParam<UpdateOrder> {};
INSTANTIATE_TEST_SUITE_P(Gan, EitherOrder,
                         ::testing::Values(UpdateOrder::discriminator_first,
                                           UpdateOrder::generator_first),
                         [](const auto& order) {
                           return order.param == UpdateOrder::generator_first
                                      ? "GeneratorFirst"
                                      : "DiscriminatorFirst";
                         });

TEST_P(EitherOrder, GivesTheSameWeightsBitForBitForTheSameSeed) {
  Training first(small_gan(GetParam())), second(small_gan(GetParam()));
  Training other(small_gan(GetParam()), 20, 8, /*seed=*/2);
  const torch::Tensor start = first.weights();
  for (Training* run : {&first, &second, &other}) run->loop.run_epochs(5);
  EXPECT_TRUE(torch::equal(first.weights(), second.weights()));
  EXPECT_GT(distance(first.weights(), start), 1e-3) << "they moved";
  EXPECT_FALSE(torch::equal(first.weights(), other.weights()));
}

// Tiles change the order of sums alone. One epoch's gradients, then five epochs, in which Adam
// turns a rounding error of a tiny gradient into a step of its own size.
TEST_P(EitherOrder, DependsOnTilesBySummationOrderAlone) {
  optim::GanConfig config = small_gan(GetParam());
  config.generator.spread_penalty = 0.1;
  for (const auto terms : {optim::ReferenceTerms::per_sample, optim::ReferenceTerms::batch_mean}) {
    config.objective.reference_terms = terms;
    Training ones(config, 20, 1);
    Training eights(config, 20, 8);
    Training whole(config, 20, 1000);
    for (Training* run : {&ones, &eights, &whole}) run->loop.run_epochs(1);
    EXPECT_LT(distance(ones.gan.generator().gradients(), whole.gan.generator().gradients()), 1e-5);
    EXPECT_LT(
        distance(ones.gan.discriminator(1).gradients(), whole.gan.discriminator(1).gradients()),
        1e-5);
    for (Training* run : {&ones, &eights, &whole}) run->loop.run_epochs(5);
    EXPECT_LT(distance(ones.weights(), eights.weights()), 1e-5);
    EXPECT_LT(distance(ones.weights(), whole.weights()), 1e-5);
  }
}

TEST_P(EitherOrder, HasTheOraclesGradientsWithEveryLibraryTileAndThread) {
  optim::GanConfig config = small_gan(GetParam());
  for (const char* loss : {"least_squares", "cross_entropy"}) {
    config.objective.loss = loss;
    expect_the_oracles_gradients(config, small_environment(2));
  }
}

TEST(SimultaneousGan, HasTheOraclesGradientsWithEveryLibraryTileAndThread) {
  optim::GanConfig config = small_gan();
  config.optimizer.update = optim::UpdateMode::simultaneous;
  for (const char* loss : {"least_squares", "cross_entropy"}) {
    config.objective.loss = loss;
    expect_the_oracles_gradients(config, small_environment(2));
  }
}

// Before any update both ways see the same weights; generator_first also shares the events.
TEST(SimultaneousGan, BeginsWithTheGradientsOfOneAfterTheOther) {
  optim::GanConfig together = small_gan(), in_turn = small_gan(UpdateOrder::generator_first);
  together.optimizer.update = optim::UpdateMode::simultaneous;
  const auto ours = gradients_by(together, "libtorch", 1000, 1, small_environment(2));
  const auto theirs = gradients_by(in_turn, "libtorch", 1000, 1, small_environment(2));
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_LT(distance(ours[i], theirs[i]), 1e-6) << i;
}

TEST(SimultaneousGan, LearnsAndGoesOnFromItsState) {
  optim::GanConfig config = small_gan();
  config.optimizer.update = optim::UpdateMode::simultaneous;
  Training straight(config), before(config), after(config);
  const torch::Tensor start = straight.weights();
  straight.loop.run_epochs(20);
  EXPECT_GT(distance(straight.weights(), start), 1e-3) << "they moved";
  before.loop.run_epochs(10);
  nn::take_state(after.loop, nn::give_state(before.loop));
  after.loop.run_epochs(20);
  EXPECT_TRUE(torch::equal(after.weights(), straight.weights()));
}

TEST_P(EitherOrder, GoesOnFromItsStateBitForBit) {
  optim::GanConfig config = small_gan(GetParam());
  config.optimizer.generator.schedule = optim::UpdateConfig::Schedule::cosine;
  config.optimizer.generator.final_rate = 0.1;  // the rate depends on the epoch
  Training straight(config), before(config), after(config, 20, 8);
  straight.loop.run_epochs(20);
  before.loop.run_epochs(10);
  const nn::State state = nn::give_state(before.loop);
  nn::take_state(after.loop, state);
  after.loop.run_epochs(20);
  EXPECT_TRUE(torch::equal(after.weights(), straight.weights()));
  EXPECT_TRUE(torch::equal(after.gan.predict(100), straight.gan.predict(100)));
  const nn::State one = nn::give_state(straight.loop), other = nn::give_state(after.loop);
  ASSERT_EQ(one.size(), other.size());
  for (const auto& [name, value] : one)
    EXPECT_TRUE(name.ends_with("_s") || torch::equal(value, other.at(name))) << name;
}

TEST_P(EitherOrder, LearnsFromTwoChannels) {
  optim::GanConfig config = small_gan(GetParam());
  config.generator.network = {.width = 16, .layers = 2};
  config.discriminator.network = {.width = 16, .layers = 2};
  config.batch = {.samples = 32, .events = 20};
  config.optimizer.generator.learning_rate = 3e-3;
  Training run(config, 400, 32);
  const auto off = [&] {
    const torch::Tensor mean = run.gan.predict(200).mean(0);
    return std::pair(std::abs(mean[0].item<double>() - 1.5),
                     std::abs(mean[1].item<double>() - 0.5));
  };
  const auto [mean_before, width_before] = off();
  run.loop.run_epochs(400);
  const auto [mean_after, width_after] = off();
  EXPECT_LT(mean_after, 0.5 * mean_before) << "mean " << mean_before << " -> " << mean_after;
  EXPECT_LT(width_after, 0.5 * width_before) << "width " << width_before << " -> " << width_after;
}

}  // namespace
}  // namespace sagips::train
