#include "sagips/optim/gan/sobol_noises.hpp"

#include <gtest/gtest.h>

#include "tests/optim/small_environment.hpp"

namespace sagips::optim {
namespace {

using namespace sagips::testing;

torch::Tensor numbers(SobolNoises& noises, const std::string& step, std::size_t channel,
                      std::uint32_t epoch) {
  return noises(step, channel, epoch)->uniform(0, 3, 8, 0, torch::kFloat32);
}

TEST(SobolNoises, AreOthersForEachEpochStepAndChannel) {
  const env::Environment environment = small_environment(2);
  SobolNoises noises(environment, 8, 1), again(environment, 8, 1), other(environment, 8, 2);
  const torch::Tensor first = numbers(noises, "generator", 0, 1);
  EXPECT_TRUE(torch::equal(first, numbers(noises, "generator", 0, 1)));
  EXPECT_TRUE(torch::equal(first, numbers(again, "generator", 0, 1)));
  EXPECT_FALSE(torch::equal(first, numbers(other, "generator", 0, 1)));
  EXPECT_FALSE(torch::equal(first, numbers(noises, "discriminator", 0, 1)));
  EXPECT_FALSE(torch::equal(first, numbers(noises, "generator", 1, 1)));
  EXPECT_FALSE(torch::equal(first, numbers(noises, "generator", 0, 2)));
  EXPECT_TRUE(torch::equal(first, numbers(noises, "generator", 0, 1))) << "an epoch made again";
}

TEST(SobolNoises, AreMadeOnceAnEpoch) {
  const env::Environment environment = small_environment();
  SobolNoises noises(environment, 8, 1);
  EXPECT_EQ(noises("generator", 0, 5), noises("generator", 0, 5));
}

// The same first gradients but for the events' noise.
TEST(SobolNoises, ServeAGanThatAsksForThem) {
  const env::Environment environment = small_environment();
  const auto gradients = [&](BatchConfig::Noise noise, std::int64_t tiles) {
    GanConfig config = small_gan();
    config.batch.noise = noise;
    config.dense.library = "libtorch";
    Gan gan(config, environment, 1, torch::kCPU);
    GanBatch batch = gan.batch(1);
    const Pass& pass = gan.passes()[0];
    nn::Replica& replica = *gan.steps()[0].replica;
    replica.zero_gradients();
    std::vector<nn::Leaves*> leaves = {&replica.leaves()};
    pass.prepare(batch, tiles);
    for (std::int64_t i = 0; i < tiles; ++i)
      pass.gradients(
          batch, {.index = i, .first = i * batch.samples / tiles, .samples = batch.samples / tiles},
          leaves);
    return replica.gradients().clone();
  };
  const torch::Tensor pseudo = gradients(BatchConfig::Noise::pseudo_random, 1);
  const torch::Tensor sobol = gradients(BatchConfig::Noise::sobol, 1);
  EXPECT_GT((pseudo - sobol).norm().item<double>(), 1e-3 * pseudo.norm().item<double>());
  EXPECT_LT((gradients(BatchConfig::Noise::sobol, 4) - sobol).norm().item<double>(),
            1e-5 * sobol.norm().item<double>())
      << "tiles draw the same points";
}

}  // namespace
}  // namespace sagips::optim
