// Every adversarial loss and every stabiliser in the loop: gradients that do not depend on how they
// are computed, runs that go on from their state, parameters that are found.
#include "tests/train/gan_training.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;
using optim::GanConfig;
using optim::UpdateMode;
using optim::UpdateOrder;
using Penalty = optim::GradientPenaltyConfig::Kind;

/// Something beside the defaults, with a name for messages.
struct Variant {
  std::string name;
  std::function<void(GanConfig&)> set;
  std::string loss = "cross_entropy";
};

std::vector<Variant> losses() {
  std::vector<Variant> all;
  for (const std::string& loss : optim::adversarial_losses().names())
    all.push_back(
        {loss,
         [loss](GanConfig& config) { config.discriminator.spectral_norm = loss == "wasserstein"; },
         loss});
  return all;
}

Variant penalty(const std::string& name, Penalty kind, const std::string& loss) {
  return {name,
          [kind](GanConfig& config) {
            config.discriminator.gradient_penalty = {.kind = kind, .factor = 0.3};
          },
          loss};
}

std::vector<Variant> stabilisers() {
  return {penalty("r1", Penalty::r1, "hinge"),
          penalty("r2", Penalty::r2, "least_squares"),
          penalty("r1_r2", Penalty::r1_r2, "relativistic"),
          penalty("wasserstein", Penalty::wasserstein, "wasserstein"),
          {"spectral_norm", [](GanConfig& config) { config.discriminator.spectral_norm = true; }},
          {"instance_noise", [](GanConfig& config) { config.discriminator.instance_noise = 0.5; }},
          {"average", [](GanConfig& config) { config.generator.average = 0.9; }},
          {"optimistic", [](GanConfig& config) {
             config.optimizer.generator.optimistic = true;
             config.optimizer.discriminator.optimistic = true;
           }}};
}

/// All that can be on at a time.
Variant everything() {
  return {"everything",
          [](GanConfig& config) {
            for (const Variant& one : stabilisers()) one.set(config);
            config.discriminator.gradient_penalty = {
                .kind = Penalty::r1_r2, .factor = 0.3, .every = 2};
            config.optimizer.discriminator_steps = 2;
          },
          "relativistic"};
}

GanConfig with(const Variant& variant, GanConfig config = small_gan()) {
  variant.set(config);
  config.objective.loss = variant.loss;
  return config;
}

/// Gradients of biases may cancel (a critic's, a pair's), and Adam would turn the rounding error that
/// is left into a step as large as any.
GanConfig with_calm_steps(const Variant& variant, GanConfig config = small_gan()) {
  config.optimizer.generator.epsilon = config.optimizer.discriminator.epsilon = 0.1;
  return with(variant, config);
}

/// Events below 1.5 are rare: weights of all sizes.
struct RareBelow {
  env::Events operator()(env::Events events, env::Noise&) const {
    events.weights = torch::sigmoid(events.values.squeeze(2) * 4 - 6);
    return events;
  }
};

env::Environment weighted_environment() {
  env::Environment environment = small_environment(2);
  environment.channels[1].pipeline = env::Pipeline{GaussEvents{0.1}, RareBelow{}};
  return environment;
}

TEST(Losses, HaveTheOraclesGradientsWithEveryLibraryTileAndThread) {
  for (const Variant& variant : losses()) {
    SCOPED_TRACE(variant.name);
    const env::Environment environment = weighted_environment();
    expect_the_oracles_gradients(with_calm_steps(variant), environment);
    expect_the_oracles_gradients(with_calm_steps(variant, small_gan(UpdateOrder::generator_first)),
                                 environment);
    GanConfig together = with_calm_steps(variant);
    together.optimizer.update = UpdateMode::simultaneous;
    expect_the_oracles_gradients(together, environment);
  }
}

TEST(Stabilisers, HaveTheOraclesGradientsWithEveryLibraryTileAndThread) {
  std::vector<Variant> all = stabilisers();
  all.push_back(everything());
  for (const Variant& variant : all) {
    SCOPED_TRACE(variant.name);
    const env::Environment environment = weighted_environment();
    expect_the_oracles_gradients(with_calm_steps(variant), environment);
    if (variant.name == "everything") continue;
    GanConfig together = with_calm_steps(variant);
    together.optimizer.update = UpdateMode::simultaneous;
    expect_the_oracles_gradients(together, environment);
  }
}

// Before any update simultaneous and generator_first see the same events and weights.
TEST(Losses, BeginAlikeInOnePassAndInTurn) {
  for (const Variant& variant : losses()) {
    GanConfig together = with(variant),
              in_turn = with(variant, small_gan(UpdateOrder::generator_first));
    together.optimizer.update = UpdateMode::simultaneous;
    const env::Environment environment = weighted_environment();
    const auto ours = gradients_by(together, "auto", 1000, 1, environment);
    const auto theirs = gradients_by(in_turn, "auto", 1000, 1, environment);
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i)
      EXPECT_TRUE(agree(ours[i], theirs[i])) << variant.name << " " << i;
  }
}

TEST(Stabilisers, GoOnFromTheirStateBitForBit) {
  std::vector<Variant> all = stabilisers();
  all.push_back(everything());
  for (const Variant& variant : all) {
    SCOPED_TRACE(variant.name);
    GanConfig unchanged = small_gan();
    unchanged.objective.loss = variant.loss == "wasserstein" ? "hinge" : variant.loss;
    Training straight(with(variant), 10), before(with(variant), 10), after(with(variant), 10),
        plain(unchanged, 10);
    straight.loop.run_epochs(10);
    plain.loop.run_epochs(10);
    before.loop.run_epochs(5);
    nn::take_state(after.loop, nn::give_state(before.loop));
    after.loop.run_epochs(10);
    EXPECT_TRUE(torch::equal(after.weights(), straight.weights()));
    EXPECT_TRUE(torch::equal(after.gan.predict(50), straight.gan.predict(50)));
    EXPECT_FALSE(torch::equal(plain.gan.predict(50), straight.gan.predict(50)))
        << "it changes something";
    const nn::State one = nn::give_state(straight.loop), other = nn::give_state(after.loop);
    ASSERT_EQ(one.size(), other.size());
    for (const auto& [name, value] : one)
      EXPECT_TRUE(name.ends_with("_s") || torch::equal(value, other.at(name))) << name;
  }
}

TEST(WeightAverage, PredictsInPlaceOfTheLastWeightsAndChangesNoStep) {
  GanConfig config = small_gan();
  Training plain(config);
  config.generator.average = 0.9;
  Training averaged(config);
  EXPECT_TRUE(torch::equal(averaged.gan.predict(20), plain.gan.predict(20))) << "nothing yet";
  torch::Tensor mean = torch::zeros_like(plain.gan.generator().weights());
  double shares = 0;
  for (std::int64_t epoch = 1; epoch <= 10; ++epoch) {
    plain.loop.run_epochs(epoch);
    averaged.loop.run_epochs(epoch);
    mean = 0.9 * mean + plain.gan.generator().weights();
    shares = 0.9 * shares + 1;
  }
  EXPECT_TRUE(torch::equal(averaged.weights(), plain.weights()));
  EXPECT_LT(distance(averaged.gan.predicting_weights(), mean / shares), 1e-6);
  plain.gan.generator().weights().copy_(averaged.gan.predicting_weights());
  EXPECT_TRUE(torch::equal(averaged.gan.predict(20), plain.gan.predict(20)));
}

TEST(SpectralNorm, HoldsAfterEveryUpdate) {
  GanConfig config = small_gan();
  config.discriminator.spectral_norm = true;
  Training run(config);
  run.loop.run_epochs(20);
  const nn::Replica& replica = run.gan.discriminator(1);
  for (std::size_t i = 0; i < replica.parameters().size(); ++i)
    if (!replica.parameters()[i].is_bias) {
      const auto values =
          torch::linalg_svdvals(replica.view(replica.weights(), i).detach().to(torch::kFloat64));
      EXPECT_NEAR(values[0].item<double>(), 1, 0.01) << i;
    }
}

/// |mean of the proposals - truth| in widths of the ranges, summed over both parameters.
double distance_from_truth(optim::Gan& gan) {
  const torch::Tensor mean = gan.predict(200).mean(0);
  return std::abs(mean[0].item<double>() - 1.5) / 6 + std::abs(mean[1].item<double>() - 0.5) / 1.9;
}

/// Fixed seed; the end is within a third of the start's distance, mostly far within.
void expect_to_find_the_parameters(const Variant& variant) {
  SCOPED_TRACE(variant.name);
  GanConfig config = small_gan();
  config.generator.network = {.width = 16, .layers = 2};
  config.discriminator.network = {.width = 16, .layers = 2};
  config.batch = {.samples = 16, .events = 32};
  config.optimizer.generator.learning_rate = 3e-3;
  config.optimizer.discriminator.learning_rate = 6e-3;
  Training run(with(variant, config), 300, 16, 1, /*channels=*/1);
  const double start = distance_from_truth(run.gan);
  run.loop.run_epochs(300);
  const double end = distance_from_truth(run.gan);
  EXPECT_LT(end, start / 3);
  ::testing::Test::RecordProperty(variant.name, std::to_string(start) + " " + std::to_string(end));
}

TEST(Losses, FindTheParametersOfASmallProblem) {
  for (const Variant& variant : losses()) expect_to_find_the_parameters(variant);
}

TEST(Stabilisers, FindTheParametersOfASmallProblem) {
  expect_to_find_the_parameters(penalty("wasserstein", Penalty::wasserstein, "wasserstein"));
  expect_to_find_the_parameters(everything());
}

}  // namespace
}  // namespace sagips::train
