// Ten steps of the proxy1d GAN against PyTorch. What the dumps are: tools/golden/README.md.
#include <gtest/gtest.h>

#include <algorithm>

#include "sagips/core/text.hpp"
#include "sagips/kernels/products.hpp"
#include "sagips/train/loop.hpp"
#include "tests/golden/replay.hpp"

namespace sagips::golden {
namespace {

// The dumps are exact to float32, so a difference is our own rounding. Largest ones seen: loss
// 4e-7, gradient of a weight or bias tensor 4e-6, between tiles of 1 and 16 samples 6e-6. The last
// digits go where the sampler divides by the width of a table cell, 1e-3 to 5e-3 of a number known
// to 6e-8.
constexpr double loss_bound = 1e-5;
constexpr double gradient_bound = 1e-5;

// A share of the way that the weights go in ten steps, itself 1 to 4 % of their norm. Seen: 2e-6,
// or 5e-8 of the norm: what rounding the weights ten times leaves. Adam divides a gradient by its
// own size, so the entries that are small in their tensor pass on an enlarged error; a single entry
// whose first step went the other way would count 1e-2.
constexpr double drift_bound = 1e-5;

// A share of the same way, from the dump's gradients. Seen: 5e-7; both sides round the weights to
// float32 after each step and part by a last digit now and then, 3e-8 of a way of 1e-2.
constexpr double adam_bound = 2e-6;

class GoldenSteps : public testing::TestWithParam<const char*> {
 protected:
  const RecordedRun run_{GetParam()};
  const std::int64_t all_samples_ = run_.settings.batch.samples;
};

void expect_within_bounds(const Differences& found) {
  EXPECT_LE(found.loss.value, loss_bound) << found.loss.where;
  EXPECT_LE(found.generator.value, gradient_bound) << found.generator.where;
  EXPECT_LE(found.discriminator.value, gradient_bound) << found.discriminator.where;
}

TEST_P(GoldenSteps, LossesAndGradientsAgreeFromTheDumpsOwnWeights) {
  std::vector<std::string> libraries = kernels::available_products();
  libraries.push_back("libtorch");
  for (const std::string& library : libraries) {
    SCOPED_TRACE(library);
    Replay replay(run_, {all_samples_}, "", library);
    Differences found;
    for (std::int64_t i = 0; i < run_.steps(); ++i) found.add(replay.step(i), run_.outcome(i));
    RecordProperty(library + "_loss", found.loss.text());
    RecordProperty(library + "_generator", found.generator.text());
    RecordProperty(library + "_discriminator", found.discriminator.text());
    expect_within_bounds(found);
  }
}

TEST_P(GoldenSteps, TilesChangeNothingButTheRounding) {
  Replay in_one_piece(run_, {all_samples_}, "", "libtorch");
  for (const std::int64_t tile_samples : {1, 5}) {
    SCOPED_TRACE(tile_samples);
    Replay tiled(run_, {.tile_samples = tile_samples, .threads = 2}, "");
    Differences found;
    for (std::int64_t i = 0; i < run_.steps(); ++i) found.add(tiled.step(i), in_one_piece.step(i));
    const std::string tile = core::text("_tiles_of_", tile_samples);
    RecordProperty("loss" + tile, found.loss.text());
    RecordProperty("generator" + tile, found.generator.text());
    RecordProperty("discriminator" + tile, found.discriminator.text());
    expect_within_bounds(found);
  }
}

/// Our GAN with a dump's batches in place of its own.
class RecordedGan final : public optim::Optimizer {
 public:
  RecordedGan(optim::Gan& gan, const RecordedRun& run) : gan_(gan), run_(run) {}

  std::unique_ptr<optim::Batch> draw(std::uint32_t step) const override {
    return std::make_unique<optim::GanBatch>(run_.batch(step - 1));
  }
  std::vector<optim::UpdateStep>& steps() override { return gan_.steps(); }
  std::vector<optim::Pass>& passes() override { return gan_.passes(); }
  std::vector<optim::Action> schedule() const override { return gan_.schedule(); }
  void state(nn::StateList& list) override { gan_.state(list); }

 private:
  optim::Gan& gan_;
  const RecordedRun& run_;
};

/// How far a network ends from where the dump's does, in units of the way the dump's went.
double drift(const nn::Replica& replica, const torch::Tensor& recorded) {
  const torch::Tensor way = recorded[-1] - recorded[0];
  return relative_difference(in_network_order(replica, replica.weights()) - recorded[0], way);
}

struct Drifts {
  double generator = 0, discriminator = 0;
};

/// Drifts after all steps in a row, which the training loop turns.
Drifts drifts_of(const RecordedRun& run) {
  Replay replay(run, {run.settings.batch.samples}, "");
  replay.put_weights(0);
  RecordedGan optimizer(replay.gan(), run);
  train::LoopConfig config;
  config.epochs = run.steps();
  train::Loop(config, optimizer, {}).run();
  return {drift(replay.gan().generator(), run.generator_weights),
          drift(replay.gan().discriminator(0), run.discriminator_weights)};
}

TEST_P(GoldenSteps, TenStepsInARowEndWhereTheDumpDoes) {
  const Drifts found = drifts_of(run_);
  RecordProperty("generator", core::text(found.generator));
  RecordProperty("discriminator", core::text(found.discriminator));
  EXPECT_LE(found.generator, drift_bound);
  EXPECT_LE(found.discriminator, drift_bound);
}

TEST_P(GoldenSteps, AdamTurnsTheDumpsGradientsIntoItsWeights) {
  Replay replay(run_, {all_samples_}, "");
  replay.put_weights(0);
  const auto drift_of = [&](const optim::UpdateStep& step, const torch::Tensor& gradients,
                            const torch::Tensor& weights) {
    for (std::int64_t i = 0; i < run_.steps(); ++i) {
      copy_from_network_order(*step.replica, gradients[i], step.replica->gradients());
      step.rule->step(0);
    }
    return drift(*step.replica, weights);
  };
  const auto& steps = replay.gan().steps();
  const double generator = drift_of(steps[0], run_.generator_gradients, run_.generator_weights);
  const double discriminator =
      drift_of(steps[1], run_.discriminator_gradients, run_.discriminator_weights);
  RecordProperty("generator", core::text(generator));
  RecordProperty("discriminator", core::text(discriminator));
  EXPECT_LE(generator, adam_bound);
  EXPECT_LE(discriminator, adam_bound);
}

// --- the comparison can fail
// -------------------------------------------------------------------------

/// Differences of the dump's first step from one that was altered.
Differences differences_of(const RecordedRun& run, const RecordedRun& altered,
                           const std::string& pipeline) {
  Replay replay(altered, {run.settings.batch.samples}, pipeline);
  Differences found;
  found.add(replay.step(0), run.outcome(0));
  return found;
}

TEST_P(GoldenSteps, OneWeightThatIsOffByAThousandthShows) {
  RecordedRun altered = run_;
  altered.generator_weights = run_.generator_weights.clone();
  altered.generator_weights[0][0] += 1e-3;
  EXPECT_GT(differences_of(run_, altered, "").generator.value, gradient_bound);

  altered = run_;
  altered.discriminator_weights = run_.discriminator_weights.clone();
  altered.discriminator_weights[0][0] += 1e-3;
  EXPECT_GT(differences_of(run_, altered, "").discriminator.value, gradient_bound);
}

// In one of the two networks: the generator's reference terms do not depend on the coverage, and
// another table moves events less than the discriminator can see.
TEST_P(GoldenSteps, AnotherSamplerShows) {
  for (const char* sampler :
       {"{coverage: 1}", "{points: 1001}", "{rule: trapezoid}", "{low: 0.1001}"}) {
    const Differences found = differences_of(run_, run_, core::text("sampler: ", sampler));
    EXPECT_GT(std::max(found.generator.value, found.discriminator.value), gradient_bound)
        << sampler;
  }
}

TEST_P(GoldenSteps, AnotherLabelOfTheGeneratorShows) {
  RecordedRun altered = run_;
  altered.settings.objective.label_generator -= 0.01;
  const Differences found = differences_of(run_, altered, "");
  EXPECT_GT(found.loss.value, loss_bound);
  EXPECT_GT(found.generator.value, gradient_bound);
}

TEST_P(GoldenSteps, AnotherMemoryOfAdamShows) {
  RecordedRun altered = run_;
  altered.settings.optimizer.generator.beta1 = 0.501;
  altered.settings.optimizer.discriminator.beta2 = 0.998;
  const Drifts found = drifts_of(altered);
  EXPECT_GT(found.generator, drift_bound);
  EXPECT_GT(found.discriminator, drift_bound);
}

INSTANTIATE_TEST_SUITE_P(Dumps, GoldenSteps,
                         testing::Values("least_squares", "cross_entropy", "standardised"),
                         [](const auto& dump) { return std::string(dump.param); });

}  // namespace
}  // namespace sagips::golden
