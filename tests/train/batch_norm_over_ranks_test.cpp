// Batch norms that see the rows of all ranks.
#include <gtest/gtest.h>
#include <torch/nn.h>

#include "sagips/core/error.hpp"
#include "sagips/nn/module.hpp"
#include "tests/core/message_of.hpp"
#include "tests/train/small_learner.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;
using data::Examples;
using optim::Supervised;

comm::ExchangesConfig over_ranks() {
  comm::ExchangesConfig exchanges;
  exchanges.batch_norm = comm::ExchangesConfig::BatchNorm::over_ranks;
  return exchanges;
}

// Of 22 rows the last batch has 4: one or two on each of three ranks, where norms of their own need two.
TEST(BatchNormOverRanks, NeedsOneRowOnEachRank) {
  const Examples examples = three_classes(22);
  optim::SupervisedConfig own = plain_steps(6), over = own;
  over.norms_over_ranks = true;
  const auto refusal = [&](const optim::SupervisedConfig& config, std::int64_t rows) {
    const Examples some{.inputs = examples.inputs.narrow(0, 0, rows),
                        .targets = examples.targets.narrow(0, 0, rows)};
    return message_of<core::ConfigError>([&] {
      Supervised(config, layers_of(layers_with_norm), some, 1, torch::kCPU, {0, 3});
    });
  };
  EXPECT_NE(refusal(own, 22).find("batch norm needs two on each"), std::string::npos);
  EXPECT_NE(refusal(over, 20).find("batch norm needs one on each"), std::string::npos);
  const Learned one = learned(1, plain_steps(18), layers_with_norm, examples, 6);
  const Learned all = learned(3, over, layers_with_norm, examples, 6, "all_reduce", over_ranks());
  expect_alike(all.weights, one.weights, 1e-5, "weights");
  expect_alike(all.statistics, one.statistics, 1e-5, "running statistics");
}

// Of 25 rows the last batch has 9 on two ranks and 10 on three: shares of different size.
TEST(BatchNormOverRanks, IsThatOfOneRankWithTheBatchOfAll) {
  const Examples examples = three_classes(25);
  for (const std::string exchange : {"all_reduce", "ring"}) {
    const Learned alone = learned(1, plain_steps(15), layers_with_norm, examples, 6);
    for (const auto& [ranks, batch] : {std::pair{2, 8}, std::pair{3, 5}}) {
      optim::SupervisedConfig whole = plain_steps(batch * ranks);
      const Learned one =
          batch * ranks == 15 ? alone : learned(1, whole, layers_with_norm, examples, 6);
      const Learned all =
          learned(ranks, plain_steps(batch), layers_with_norm, examples, 6, exchange, over_ranks());
      expect_alike(all.weights, one.weights, 1e-5, "weights");
      expect_alike(all.statistics, one.statistics, 1e-5, "running statistics");
      EXPECT_TRUE(all.same_statistics);
      const Learned apart =
          learned(ranks, plain_steps(batch), layers_with_norm, examples, 6, exchange);
      EXPECT_GT((apart.weights - one.weights).norm().item<double>(),
                1e-3 * one.weights.norm().item<double>())
          << "norms of their own differ";
    }
  }
}

TEST(BatchNormOverRanks, NeedsRanksInStepAndLayersThatItKnows) {
  nn::add_module("norm of its own", [](const nn::Shape& input) {
    return torch::nn::Sequential(torch::nn::BatchNorm1d(input[0]));
  });
  const auto refusal = [](const std::string& network, const std::string& exchange) {
    std::string said;
    // a module is tried out with LibTorch's generator, which threads that are ranks share
    const auto networks = layers_of(network);
    on_ranks(2, [&](comm::Ranks& ranks) {
      const Examples examples{.inputs = torch::zeros({20, 3}),
                              .targets = torch::zeros({20}, torch::kInt64)};
      Supervised learner(plain_steps(10), networks, examples, 1, torch::kCPU, {ranks.rank(), 2});
      const std::string own = message_of<core::ConfigError>([&] {
        RankExchange made(ranks, learner, {.primary = exchange, .config = over_ranks()}, 1);
      });
      if (ranks.is_first()) said = own;
    });
    return said;
  };
  for (const std::string exchange : {"gossip", "served", "rma_ring", "arar_arar", "ensemble"}) {
    const std::string said = refusal(layers_with_norm, exchange);
    EXPECT_EQ(said.rfind("exchanges.batch_norm: over_ranks: ", 0), 0U) << exchange << ": " << said;
  }
  EXPECT_NE(refusal(dense_layers, "ring").find("no network has a batch norm"), std::string::npos);
  EXPECT_NE(refusal("{module: norm of its own}, {dense: 3}", "ring").find("module or script"),
            std::string::npos);
}

}  // namespace
}  // namespace sagips::train
