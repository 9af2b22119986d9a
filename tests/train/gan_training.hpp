#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sagips/kernels/products.hpp"
#include "sagips/train/loop.hpp"
#include "tests/optim/small_environment.hpp"

namespace sagips::testing {

inline train::LoopConfig loop_config(std::int64_t epochs, std::int64_t tile_samples) {
  train::LoopConfig config;
  config.epochs = epochs;
  config.engine.tile_samples = tile_samples;
  return config;
}

/// A Gan on an environment of its own, in a loop of its own.
struct Training {
  explicit Training(const optim::GanConfig& config, std::int64_t epochs = 20,
                    std::int64_t tile_samples = 8, std::uint64_t seed = 1, std::size_t channels = 2)
      : environment(small_environment(channels)),
        gan(config, environment, seed, torch::kCPU),
        loop(loop_config(epochs, tile_samples), gan, {}) {}

  torch::Tensor weights() {
    std::vector<torch::Tensor> all = {gan.generator().weights()};
    for (std::size_t k = 0; k < environment.channels.size(); ++k)
      all.push_back(gan.discriminator(k).weights());
    return torch::cat(all);
  }

  env::Environment environment;
  optim::Gan gan;
  train::Loop loop;
};

inline double distance(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

/// Gradients of a first epoch, by tensor, as `library` and so many threads find them.
inline std::vector<torch::Tensor> gradients_by(optim::GanConfig config, const std::string& library,
                                               std::int64_t tile_samples, int threads,
                                               const env::Environment& environment) {
  config.dense.library = library;
  config.generator.spread_penalty = 0.1;
  train::LoopConfig loop = loop_config(1, tile_samples);
  loop.engine.threads = threads;
  optim::Gan gan(config, environment, 1, torch::kCPU);
  train::Loop(loop, gan, {}).run_epochs(1);
  std::vector<torch::Tensor> found;
  for (const optim::UpdateStep& step : gan.steps())
    for (std::size_t i = 0; i < step.replica->parameters().size(); ++i)
      found.push_back(step.replica->view(step.replica->gradients(), i).clone());
  return found;
}

/// Up to rounding; or both are what is left of a sum that cancels.
inline bool agree(const torch::Tensor& found, const torch::Tensor& oracle) {
  const double size = oracle.norm().item<double>(), other = found.norm().item<double>();
  return (size < 1e-6 && other < 1e-6) || distance(found, oracle) < 1e-5;
}

inline void expect_the_oracles_gradients(const optim::GanConfig& config,
                                         const env::Environment& environment) {
  const auto oracle = gradients_by(config, "libtorch", 1000, 1, environment);
  for (const std::string& library : kernels::available_products())
    for (const auto& [tile_samples, threads] :
         std::vector<std::pair<std::int64_t, int>>{{1, 1}, {5, 1}, {1000, 1}, {3, 2}, {0, 2}}) {
      const auto found = gradients_by(config, library, tile_samples, threads, environment);
      for (std::size_t i = 0; i < oracle.size(); ++i)
        EXPECT_TRUE(agree(found[i], oracle[i]))
            << library << ", tiles of " << tile_samples << ", " << threads << " threads, tensor "
            << i << ", " << distance(found[i], oracle[i]) << " of " << oracle[i].norm();
    }
}

}  // namespace sagips::testing
