// Samples with fewer events than a batch has room for: what does not exist must not matter.
#include <gtest/gtest.h>

#include "tests/optim/small_environment.hpp"

namespace sagips::optim {
namespace {

using namespace sagips::testing;

/// GaussEvents of which every third does not exist; those hold `filler` instead.
struct Ragged {
  double filler = 0;

  env::Events operator()(env::Events parameters, env::Noise& noise) const {
    env::Events events = GaussEvents{}(std::move(parameters), noise);
    const torch::Tensor exists =
        (torch::arange(noise.events()).remainder(3) != 0).expand({events.samples(), -1});
    events.values =
        torch::where(exists.unsqueeze(2), events.values, torch::full_like(events.values, filler));
    events.mask = exists;
    return events;
  }
};

env::Environment ragged_environment(double filler) {
  env::Environment environment = small_environment();
  environment.channels[0].pipeline = env::Pipeline{Ragged{filler}};
  return environment;
}

/// Gradients of both networks in the first epoch.
torch::Tensor gradients(double filler, const std::string& library, UpdateMode update) {
  const env::Environment environment = ragged_environment(filler);
  GanConfig config = small_gan();
  config.optimizer.update = update;
  config.dense.library = library;
  Gan gan(config, environment, 1, torch::kCPU);
  GanBatch batch = gan.batch(1);
  for (UpdateStep& step : gan.steps()) step.replica->zero_gradients();
  for (const Pass& pass : gan.passes()) {
    std::vector<nn::Leaves*> leaves;
    for (const std::size_t step : pass.steps)
      leaves.push_back(&gan.steps()[step].replica->leaves());
    pass.prepare(batch, 1);
    pass.gradients(batch, {.index = 0, .first = 0, .samples = batch.samples}, leaves);
  }
  return torch::cat({gan.generator().gradients(), gan.discriminator(0).gradients()}).clone();
}

TEST(MaskedEvents, LeaveNoTraceInAnyGradient) {
  for (const UpdateMode update : {UpdateMode::alternating, UpdateMode::simultaneous})
    for (const std::string library : {"libtorch", "auto"}) {
      const torch::Tensor one = gradients(0, library, update);
      const torch::Tensor other = gradients(3, library, update);
      EXPECT_GT(one.norm().item<double>(), 1e-3);
      EXPECT_LT((one - other).norm().item<double>(), 1e-6 * one.norm().item<double>()) << library;
    }
}

TEST(MaskedEvents, AreNoToyData) {
  const data::Dataset toys =
      env::toy_data(env::Pipeline{Ragged{1e6}}, small_environment().parameters.truth(), 5'000,
                    {"x"}, core::RandomStream(1, "test"));
  EXPECT_EQ(toys.size(), 5'000);
  EXPECT_LT(toys.values.max().item<double>(), 100);
}

}  // namespace
}  // namespace sagips::optim
