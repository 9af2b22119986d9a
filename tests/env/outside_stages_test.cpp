// Scripts among threads and their forms; stages without a gradient; where NaN comes from.
#include <gtest/gtest.h>
#include <torch/script.h>

#include <atomic>
#include <thread>

#include "sagips/core/error.hpp"
#include "sagips/env/outside/script_stage.hpp"
#include "sagips/env/pipeline.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"
#include "tests/env/noise_of.hpp"
#include "tests/env/small_stages.hpp"

namespace sagips::env {
namespace {

using namespace sagips::testing;

Noise noise(std::int64_t samples = 6, std::int64_t events = 40) {
  return {std::make_shared<PhiloxNoise>(core::RandomStream(3, "outside")), samples, events};
}

std::string save(const TemporaryFolder& folder, const std::string& source,
                 std::int64_t dimensions = 0) {
  torch::jit::Module module("m");
  module.register_parameter("weight", torch::full({1}, 2.0F), false);
  if (dimensions > 0)
    module.register_attribute("noise_dimensions", c10::IntType::get(), dimensions);
  module.define(source);
  std::string path = folder.path() + "/m.pt";
  module.save(path);
  return path;
}

const std::string decay = R"(
def forward(self, lifetime: Tensor, noise: Tensor) -> Tensor:
    return (self.weight * lifetime * noise[:, :, 0] + noise[:, :, 1]).unsqueeze(2)
def infer(self, lifetime: Tensor, noise: Tensor) -> Tensor:
    return self.forward(lifetime, noise) + 100.0
)";

TEST(ScriptStage, ComputesWhatTheScriptSays) {
  const TemporaryFolder folder;
  const ScriptStage stage(save(folder, decay, 2));
  const torch::Tensor input = torch::rand({6, 1});
  Noise one = noise(), same = noise();
  const torch::Tensor first = same.uniform(), second = same.uniform();
  EXPECT_TRUE(torch::equal(stage({input}, one).values, (2 * input * first + second).unsqueeze(2)));
  EXPECT_EQ(one.dimensions(), 2);
  Noise third = noise();
  EXPECT_GT(stage.infer({input}, third).values.min().item<double>(), 99.0);
}

TEST(ScriptStage, PassesGradientsToItsInputAndNotToItsWeights) {
  const TemporaryFolder folder;
  const ScriptStage stage(save(folder, decay, 2));
  const torch::Tensor input = torch::rand({6, 1}).requires_grad_();
  Noise one = noise(), same = noise();
  stage({input}, one).values.sum().backward();
  EXPECT_TRUE(torch::allclose(input.grad(), 2 * same.uniform().sum(1, true)));
}

TEST(ScriptStage, GivesManyThreadsWhatItGivesOne) {
  const TemporaryFolder folder;
  const ScriptStage stage(save(folder, decay, 2));
  const torch::Tensor input = torch::rand({6, 1});
  const auto result = [&] {
    const torch::Tensor leaf = input.clone().requires_grad_();
    Noise own = noise();
    const torch::Tensor output = stage({leaf}, own).values;
    output.square().sum().backward();
    return torch::cat({output.flatten().detach(), leaf.grad().flatten()});
  };
  const torch::Tensor expected = result();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 50; ++repeat)
        if (!torch::equal(result(), expected)) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ScriptStage, SaysWhichEventsAreLostAndWhatTheyWeigh) {
  const TemporaryFolder folder;
  const auto stage_of = [&](const std::string& dictionary) {
    return ScriptStage(save(folder,
                            "def forward(self, x: Tensor, noise: Tensor) -> Dict[str, Tensor]:\n"
                            "    time = x * noise[:, :, 0]\n    return " +
                                dictionary + "\n",
                            1));
  };
  const torch::Tensor input = torch::rand({6, 1});
  Noise one = noise(), two = noise();
  const Events made = stage_of(
      "{'values': time.unsqueeze(2), 'mask': time < 0.3, 'weights': 2 * time}")({input}, one);
  const torch::Tensor time = made.values.squeeze(2);
  EXPECT_TRUE(torch::equal(made.mask.value(), time < 0.3));
  EXPECT_TRUE(torch::equal(made.weights.value(), 2 * time));
  const std::string message = message_of<core::ShapeError>(
      [&] { stage_of("{'values': time, 'count': time}")({input}, two); });
  EXPECT_NE(message.find("'count', which nobody reads"), std::string::npos) << message;
}

TEST(ScriptStage, RefusesWhatAssignsToItsAttributes) {
  const TemporaryFolder folder;
  torch::jit::Module module("m");
  module.register_attribute("count", c10::IntType::get(), 0);
  module.define(
      "def forward(self, x: Tensor) -> Tensor:\n    self.count += 1\n    return x * self.count\n");
  const std::string path = folder.path() + "/m.pt";
  module.save(path);
  const std::string message = message_of<core::DataError>([&] { ScriptStage{path}; });
  EXPECT_NE(message.find("assigns to an attribute"), std::string::npos) << message;
}

/// Rounds, so that no gradient passes.
struct Counts {
  torch::Tensor operator()(torch::Tensor events, Noise&) const { return events.detach().round(); }
  bool differentiable() const { return false; }
};

ParameterSet one_free() {
  return ParameterSet({{.name = "centre", .low = 0, .high = 5},
                       {.name = "width", .low = 0.5, .high = 2, .fixed = 1.0}});
}

TEST(Pipeline, WithAStageWithoutGradientPassesItsDryRunAndSaysSo) {
  const Pipeline pipeline{Gauss{}, Counts{}};
  EXPECT_NO_THROW(pipeline.check(one_free(), 1));
  EXPECT_FALSE(pipeline.differentiable());
  EXPECT_EQ(pipeline.without_gradient(), std::vector<std::string>{"Counts"});
  EXPECT_TRUE(Pipeline{Gauss{}}.differentiable());
}

/// 2 x with a product of its own, which may be wrong.
struct Doubles {
  double slope = 2;
  torch::Tensor operator()(torch::Tensor events, Noise&) const {
    return 2 * events.detach() + slope * (events - events.detach());
  }
  bool checks_product() const { return true; }
};

TEST(Pipeline, ComparesProductsWrittenByHandWithDifferences) {
  EXPECT_NO_THROW((Pipeline{Gauss{}, Doubles{}}.check(one_free(), 1)));
  const std::string message = message_of<core::ShapeError>([] {
    Pipeline{Gauss{}, Doubles{2.1}}.check(one_free(), 1);
  });
  EXPECT_NE(message.find("stage 'Doubles': its product"), std::string::npos) << message;
}

struct Root {
  torch::Tensor operator()(torch::Tensor events, Noise&) const { return torch::sqrt(events); }
  std::string name() const { return "root"; }
};

TEST(Pipeline, FindsTheStageAndTheParametersOfANan) {
  const Pipeline pipeline{Shift{0}, Root{}, Shift{1}};
  Noise one = noise(3, 1);
  const auto found = pipeline.find_non_finite(torch::tensor({{4.0F}, {-1.0F}, {0.0F}}), one);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->stage, "root");
  EXPECT_FALSE(found->in_gradient);
  EXPECT_EQ(found->parameters.item<float>(), -1.0F);
  const auto slope = pipeline.find_non_finite(torch::tensor({{4.0F}, {1.0F}, {0.0F}}), one);
  ASSERT_TRUE(slope.has_value());
  EXPECT_TRUE(slope->in_gradient);
  EXPECT_EQ(slope->parameters.item<float>(), 0.0F);
  EXPECT_FALSE(pipeline.find_non_finite(torch::tensor({{4.0F}}), one).has_value());
}

}  // namespace
}  // namespace sagips::env
