#include "sagips/nn/mlp.hpp"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

#include "sagips/core/error.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/initialise.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::nn {
namespace {

using testing::message_of;

std::shared_ptr<const Network> mlp(std::int64_t inputs, std::int64_t outputs,
                                   const MlpConfig& config) {
  return config.network(inputs, outputs);
}

Replica replica_of(const std::shared_ptr<const Network>& network) {
  return Replica(network, SharedPart::all, torch::kCPU);
}

Replica initialised(const std::shared_ptr<const Network>& network, std::uint64_t seed) {
  Replica replica = replica_of(network);
  initialise_kaiming_normal(replica, 0.2, core::RandomStream(seed, "weights"));
  return replica;
}

// 6-128-128-128-128-6 ("51k" in the SAGIPS paper) and 2-128-128-128-128-1, all biases counted
TEST(Mlp, HasThePapersNumberOfWeights) {
  const Replica generator(mlp(6, 6, {}), SharedPart::weights_only, torch::kCPU);
  EXPECT_EQ(generator.size(), 51'206);
  EXPECT_EQ(generator.shared_size(), 50'688);
  EXPECT_EQ(replica_of(mlp(2, 1, {})).size(), 50'049);
}

TEST(Mlp, NamesWeightAndBiasOfEachLayerInOrder) {
  const auto network = mlp(3, 2, {.width = 5, .layers = 1});
  std::vector<std::string> names;
  for (const auto& parameter : network->parameters()) names.push_back(parameter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"layer0.weight", "layer0.bias", "layer1.weight",
                                             "layer1.bias"}));
  EXPECT_EQ(network->parameters()[2].shape, (std::vector<std::int64_t>{2, 5}));
  EXPECT_EQ(network->parameters()[3].fan_in, 5);
}

TEST(Mlp, EqualsAHandCalculation) {
  const auto network = mlp(2, 1, {.width = 2, .layers = 1, .negative_slope = 0.25});
  const std::vector<torch::Tensor> weights = {
      torch::tensor({{1.0F, 2.0F}, {3.0F, -4.0F}}), torch::tensor({0.5F, 1.0F}),
      torch::tensor({{2.0F, 8.0F}}), torch::tensor({-1.0F})};
  // hidden: (1 + 4 + 0.5, 3 - 8 + 1) = (5.5, -4); leaky: (5.5, -1); end without activation
  const torch::Tensor output =
      (*network)({.tensors = weights, .gradients = {}}, torch::tensor({{1.0F, 2.0F}}), {});
  EXPECT_EQ(output.sizes(), (std::vector<std::int64_t>{1, 1}));
  EXPECT_FLOAT_EQ(output.item<float>(), 2 * 5.5F + 8 * -1.0F - 1);
}

TEST(Mlp, WithoutHiddenLayersIsLinear) {
  const auto network = mlp(2, 3, {.width = 7, .layers = 0});
  Replica replica = initialised(network, 1);
  const torch::Tensor input = torch::tensor({{1.0F, -2.0F}, {-1.0F, 2.0F}});
  const torch::Tensor output = (*network)(replica.leaves(), input, {});
  EXPECT_TRUE(torch::equal(output[0], -output[1])) << "biases start at zero";
}

// Sum w^2 / sigma^2 is chi-square with n degrees of freedom; its cube root is normal (Wilson and
// Hilferty). The fourth moment of n normal numbers is 3 sigma^4 with deviation sqrt(96 / n)
// sigma^4. Five deviations on each of 15 numbers: false alarm 9e-6.
TEST(KaimingNormal, GivesEachLayerItsVariance) {
  const auto network = mlp(6, 6, {});
  const Replica replica = initialised(network, 2);
  for (std::size_t i = 0; i < network->parameters().size(); ++i) {
    const ParameterTensor& parameter = network->parameters()[i];
    const torch::Tensor values = replica.view(replica.weights(), i).to(torch::kFloat64);
    if (parameter.is_bias) {
      EXPECT_EQ(values.abs().max().item<double>(), 0.0) << parameter.name;
      continue;
    }
    const auto n = static_cast<double>(parameter.size());
    const torch::Tensor pulls =
        values / std::sqrt(2.0 / (1.04 * static_cast<double>(parameter.fan_in)));
    EXPECT_LT(std::abs(pulls.sum().item<double>()) / std::sqrt(n), 5) << parameter.name;
    const double cube_root = std::cbrt(pulls.square().sum().item<double>() / n);
    EXPECT_LT(std::abs(cube_root - 1 + 2 / (9 * n)) / std::sqrt(2 / (9 * n)), 5) << parameter.name;
    if (n > 10'000) {
      EXPECT_LT(std::abs(pulls.pow(4).mean().item<double>() - 3) / std::sqrt(96 / n), 5)
          << parameter.name;
    }
  }
}

TEST(KaimingNormal, GivesALayerNumbersThatDoNotDependOnTheOthers) {
  const Replica narrow = initialised(mlp(2, 1, {.width = 8, .layers = 1}), 3);
  const Replica deep = initialised(mlp(2, 5, {.width = 8, .layers = 3}), 3);
  EXPECT_TRUE(torch::equal(narrow.view(narrow.weights(), 0), deep.view(deep.weights(), 0)));
  const Replica other_seed = initialised(mlp(2, 1, {.width = 8, .layers = 1}), 4);
  EXPECT_FALSE(torch::equal(narrow.weights(), other_seed.weights()));
  EXPECT_FALSE(torch::equal(deep.view(deep.weights(), 2), deep.view(deep.weights(), 4)))
      << "two layers of one shape";
}

TEST(Device, RefusesWhatIsNotThere) {
  EXPECT_EQ(device_from_name("cpu"), torch::Device(torch::kCPU));
  EXPECT_EQ(message_of<core::ConfigError>([] { device_from_name("abacus"); }),
            "device: unknown device 'abacus', known: auto, cpu, cuda, cuda:NUMBER, MIG-NAME");
  if (std::filesystem::exists("/proc/driver/nvidia/version")) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(device_from_name("auto"), torch::Device(torch::kCPU));
  for (const char* name : {"cuda", "cuda:1", "MIG-1"}) {
    try {
      device_from_name(name);
      ADD_FAILURE() << name << " was taken";
    } catch (const core::ConfigError& error) {
      EXPECT_EQ(error.exit_code(), core::ExitCode::bad_input);
      EXPECT_NE(std::string(error.what()).find("Use device=cpu"), std::string::npos);
    }
  }
}

TEST(Threads, AreSetAndReported) {
  const int before = at::get_num_threads();
  EXPECT_EQ(set_threads(1), 1);
  EXPECT_EQ(at::get_num_threads(), 1);
  EXPECT_GE(set_threads(0), 1);
  at::set_num_threads(before);
}

// Processor time, which no load changes: a thread that does not sleep between operations takes 0.2 s.
TEST(Threads, SleepWhileTheyWait) {
  const int before = at::get_num_threads();
  set_threads(2);
  torch::Tensor numbers = torch::zeros({100'000});
  const auto work = [&] { numbers.add_(1); };
  work();
  const std::clock_t start = std::clock();
  for (int repeat = 0; repeat < 50; ++repeat) {
    work();
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
  }
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.05);
  at::set_num_threads(before);
}

}  // namespace
}  // namespace sagips::nn
