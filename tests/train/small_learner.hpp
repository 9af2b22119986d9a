#pragma once
#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <string>

#include "sagips/nn/layers/layer_config.hpp"
#include "sagips/optim/learn/supervised.hpp"
#include "tests/train/small_ranks.hpp"

namespace sagips::testing {

/// A small network of dense layers, and one with a batch norm.
inline const std::string dense_layers = "{dense: 8, activation: tanh}, {dense: 3}";
inline const std::string layers_with_norm =
    "{dense: 8}, {batch_norm: {}}, {activation: tanh}, {dense: 3}";

inline std::shared_ptr<const nn::Network> layers_of(const std::string& yaml) {
  struct List {
    std::vector<nn::LayerConfig> layers{};
    void fields(core::FieldList& list) { list.list("layers", layers, nn::LayerConfig::help()); }
  };
  const List config = core::read_config(
      core::ConfigDocument::from_text("layers: [" + yaml + "]\n", "layers.yaml"), List{});
  return std::make_shared<nn::LayeredNetwork>(config.layers, nn::Shape{3});
}

/// Drawn before ranks begin: as threads they share LibTorch's generator.
inline data::Examples three_classes(std::int64_t rows) {
  torch::manual_seed(2);
  data::Examples examples;
  examples.inputs = torch::randn({rows, 3}) * 2 + 1;
  examples.targets = examples.inputs.argmax(1);
  return examples;
}

/// The same numbers of rounding wherever they come from: SGD neither divides by nor remembers gradients.
inline optim::SupervisedConfig plain_steps(std::int64_t batch) {
  optim::SupervisedConfig config{.batch = batch};
  config.optimizer = {.rule = optim::UpdateConfig::Rule::sgd, .learning_rate = 0.1};
  return config;
}

/// What a training on some ranks ends with.
struct Learned {
  torch::Tensor weights, statistics;
  std::int64_t calls = 0;       ///< of the exchange
  bool same_statistics = true;  ///< on all ranks, bit for bit
};

inline Learned learned(int count, const optim::SupervisedConfig& config, const std::string& network,
                       const data::Examples& examples, std::int64_t epochs,
                       const std::string& exchange_name = "all_reduce",
                       const comm::ExchangesConfig& exchanges = {},
                       torch::Device device = torch::kCPU) {
  Learned found;
  on_ranks(count, [&](comm::Ranks& ranks) {
    optim::Supervised learner(config, layers_of(network), examples, 1, device,
                              {ranks.rank(), ranks.size()});
    train::RankExchange exchange(ranks, learner, {.primary = exchange_name, .config = exchanges},
                                 1);
    train::Loop::Callbacks callbacks;
    if (count > 1) callbacks.exchange = exchange.hooks();
    train::LoopConfig loop;
    loop.epochs = epochs;
    train::Loop(loop, learner, callbacks).run();
    const torch::Tensor statistics = learner.replica().buffers().cpu().clone();
    const std::span<const float> numbers(statistics.const_data_ptr<float>(),
                                         static_cast<std::size_t>(statistics.numel()));
    std::uint64_t bits = 0;
    for (const float number : numbers) bits = bits * 31 + std::bit_cast<std::uint32_t>(number);
    const auto all = ranks.gather(bits);
    if (!ranks.is_first()) return;
    found = {learner.replica().weights().cpu().clone(), statistics, exchange.reports(1)[0].calls,
             std::count(all.begin(), all.end(), bits) == static_cast<std::ptrdiff_t>(all.size())};
  });
  return found;
}

inline void expect_alike(const torch::Tensor& found, const torch::Tensor& wanted, double share,
                         const std::string& what) {
  EXPECT_LT((found - wanted).norm().item<double>(), share * wanted.norm().item<double>()) << what;
}

}  // namespace sagips::testing
