// Central weights in a training: one worker is the serial optimizer, and masters count its steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "sagips/core/error.hpp"
#include "sagips/nn/layers/layer_config.hpp"
#include "sagips/optim/learn/supervised.hpp"
#include "tests/core/message_of.hpp"
#include "tests/train/small_ranks.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;
using optim::UpdateConfig;
using Owners = comm::Served::Owners;

std::shared_ptr<const nn::Network> small_network(const std::string& between = "") {
  struct LayerList {
    std::vector<nn::LayerConfig> layers{};
    void fields(core::FieldList& list) { list.list("layers", layers, nn::LayerConfig::help()); }
  };
  const LayerList config = core::read_config(
      core::ConfigDocument::from_text(
          "layers: [{dense: 7, activation: tanh}, " + between + "{dense: 3}]\n", "layers.yaml"),
      LayerList{});
  return std::make_shared<nn::LayeredNetwork>(config.layers, nn::Shape{2});
}

// Drawn once: ranks are threads, and LibTorch's own generator is one for all of them.
const data::Examples& points() {
  static const data::Examples drawn = [] {
    torch::manual_seed(1);
    data::Examples examples;
    examples.inputs = torch::randn({90, 2});
    examples.targets = (examples.inputs.sum(1) > 0).to(torch::kInt64);
    return examples;
  }();
  return drawn;
}

LoopConfig some_epochs() {
  LoopConfig config;
  config.epochs = 4;
  return config;
}

std::vector<UpdateConfig> every_rule() {
  std::vector<UpdateConfig> all(4);
  all[1].rule = UpdateConfig::Rule::rmsprop;
  all[2].rule = UpdateConfig::Rule::sgd;
  all[2].momentum = 0.9;
  all[2].nesterov = true;
  all[3].rule = UpdateConfig::Rule::adadelta;
  for (UpdateConfig& config : all) {
    config.learning_rate = 0.01;
    config.schedule = optim::UpdateConfig::Schedule::cosine;
    config.final_rate = 0.1;  // a cosine: the rate depends on how much of the run is over
    config.warm_up = 5;
  }
  return all;
}

torch::Tensor serial_weights(const optim::SupervisedConfig& config) {
  optim::Supervised learner(config, small_network(), points(), 1, torch::kCPU);
  Loop loop(some_epochs(), learner, {});
  loop.run();
  return learner.replica().weights().detach().clone();
}

TEST(Served, OneWorkerIsTheSerialOptimizerByEveryRule) {
  for (const UpdateConfig& rule : every_rule()) {
    const optim::SupervisedConfig config{.batch = 20, .optimizer = rule};
    const torch::Tensor serial = serial_weights(config);
    on_ranks(2, [&](comm::Ranks& ranks) {
      ExchangeChoice choice{.primary = "served"};
      choice.config.served.owners = Owners::master;
      optim::Supervised learner(config, small_network(), points(), 1, torch::kCPU,
                                place_of(choice, ranks.communicator()));
      RankExchange exchange(ranks, learner, choice, 1);
      Loop::Callbacks callbacks;
      callbacks.exchange = exchange.hooks();
      EXPECT_EQ(callbacks.exchange.serve != nullptr, ranks.is_first());
      Loop loop(some_epochs(), learner, callbacks);
      const LoopResult result = loop.run();
      EXPECT_EQ(result.epochs, 4);
      callbacks.exchange.close();
      exchange.settle();
      EXPECT_TRUE(torch::equal(learner.replica().weights(), serial));
    });
  }
}

// Whoever judges or writes central weights has the mean of what the workers' rows were like.
TEST(Served, RunningStatisticsAreTheMeanOfTheWorkers) {
  for (const Owners owners : {Owners::all, Owners::nodes, Owners::master})
    for (const bool synchronous : {false, true})
      on_ranks(3, [&](comm::Ranks& ranks) {
        ExchangeChoice choice{.primary = "served"};
        choice.config.served.owners = owners;
        choice.config.served.synchronous = synchronous;
        const auto network = small_network("{batch_norm: {}}, ");
        optim::Supervised learner({.batch = 15}, network, points(), 1, torch::kCPU,
                                  place_of(choice, ranks.communicator()));
        RankExchange exchange(ranks, learner, choice, 1);
        Loop::Callbacks callbacks;
        callbacks.exchange = exchange.hooks();
        exchange.begin();
        Loop(some_epochs(), learner, callbacks).run();
        const bool computes = callbacks.exchange.serve == nullptr;
        const std::span<float> numbers = learner.networks().front().replica.running_statistics();
        ASSERT_EQ(numbers.size(), 14U);
        const std::vector<float> own(numbers.begin(), numbers.end());
        callbacks.exchange.close();
        exchange.settle();
        const auto workers = ranks.gather(computes ? 1 : 0);
        for (std::size_t k = 0; k < numbers.size(); ++k) {
          const auto all = ranks.gather(std::bit_cast<std::uint32_t>(own[k]));
          double sum = 0, count = 0;
          for (std::size_t r = 0; r < all.size(); ++r) {
            if (workers[r] == 0) continue;
            sum += std::bit_cast<float>(static_cast<std::uint32_t>(all[r]));
            ++count;
          }
          const auto found = ranks.gather(std::bit_cast<std::uint32_t>(numbers[k]));
          EXPECT_EQ(std::count(found.begin(), found.end(), found.front()), 3) << "the same on all";
          // who does not wait for owners may end with statistics that were not due once more
          if (synchronous || owners == Owners::master) {
            EXPECT_NEAR(numbers[k], sum / count, 1e-5);
          }
        }
      });
}

TEST(Served, RefusesADownpourThatWouldLeaveBiasesAsTheyBegan) {
  on_ranks(2, [&](comm::Ranks& ranks) {
    optim::Gan gan(small_gan(), small_environment(), 3, torch::kCPU, {ranks.rank(), 2});
    const std::string said = testing::message_of<core::ConfigError>(
        [&] { RankExchange exchange(ranks, gan, {.primary = "served"}, 3); });
    EXPECT_NE(said.find("generator.shared=all"), std::string::npos) << said;
  });
}

TEST(Served, ServesAnInverseProblem) {
  for (const Owners owners : {Owners::all, Owners::master})
    on_ranks(3, [&](comm::Ranks& ranks) {
      ExchangeChoice choice{.primary = "served"};
      choice.config.served.owners = owners;
      optim::GanConfig config = fully_shared_gan(12);
      config.discriminator.exchange = "none";
      SmallTraining training(ranks, config, choice);
      const torch::Tensor first = training.weights();
      training.loop.run();
      training.exchange.hooks().close();
      training.exchange.settle();
      EXPECT_FALSE(torch::equal(training.weights(), first));
      const auto bits = ranks.gather(static_cast<std::uint64_t>(
          training.weights().to(torch::kFloat64).abs().sum().item<double>() * 1e9));
      EXPECT_EQ(bits[1], bits[0]);
      EXPECT_EQ(bits[2], bits[0]);
    });
}

}  // namespace
}  // namespace sagips::train
