#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "bench/measuring.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/memory.hpp"
#include "sagips/optim/gan.hpp"
#include "sagips/optim/workload.hpp"
#include "sagips/train/loop.hpp"
#include "workloads/proxy1d/proxy1d.hpp"

// One epoch of proxy1d with the paper's networks, evaluated whole and in tiles: times alternate in
// one run, medians and the ratio whole / tiled are printed. A ratio above 1 says that tiles of this
// size are faster here.

namespace {

using sagips::bench::median;
using sagips::bench::processor;
using sagips::train::Loop;

constexpr int repeats = 7;

double seconds(Loop& loop, std::int64_t until) {
  const auto start = std::chrono::steady_clock::now();
  loop.run_epochs(until);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Candidate {
  std::int64_t tile_samples;
  sagips::optim::Gan gan;
  Loop loop;
  std::vector<double> times;

  Candidate(std::int64_t tile, const sagips::optim::GanConfig& config,
            const sagips::env::Environment& environment)
      : tile_samples(tile),
        gan(config, environment, 1, torch::kCPU),
        loop(settings(tile), gan, {}) {}

  static sagips::train::LoopConfig settings(std::int64_t tile) {
    sagips::train::LoopConfig config;
    config.engine.tile_samples = tile;
    return config;
  }
};

void compare(const sagips::env::Environment& environment, std::int64_t samples, int threads) {
  sagips::nn::set_threads(threads);
  sagips::optim::GanConfig config;
  config.batch = {.samples = samples, .events = 100};
  std::vector<std::unique_ptr<Candidate>> candidates;
  for (const std::int64_t tile :
       {samples, std::int64_t{8}, std::int64_t{16}, std::int64_t{32}, std::int64_t{64}})
    if (tile <= samples && (candidates.empty() || tile < samples))
      candidates.push_back(std::make_unique<Candidate>(tile, config, environment));
  for (int repeat = 0; repeat <= repeats; ++repeat)
    for (auto& candidate : candidates) {
      const double time = seconds(candidate->loop, repeat + 1);
      if (repeat > 0) candidate->times.push_back(time);  // the first epoch warms up
    }
  const double whole = median(candidates.front()->times);
  for (const auto& candidate : candidates) {
    const double time = median(candidate->times);
    std::printf("%8lld %8d %8lld %12.4f %14.0f %14.2f\n", static_cast<long long>(samples), threads,
                static_cast<long long>(candidate->tile_samples), time,
                static_cast<double>(samples) * 100 / time, whole / time);
  }
}

}  // namespace

int main() {
  sagips::nn::keep_freed_memory();
  const auto workload = sagips::workloads::proxy1d_workload().make();
  const auto environment = sagips::optim::make_environment(*workload, {.toy_events = 20000},
                                                           sagips::optim::Split::held_out, 1);
  std::printf(
      "%s\nproxy1d, the paper's networks, 100 events a sample; median of %d epochs, "
      "alternating\n\n",
      processor().c_str(), repeats);
  std::printf("%8s %8s %8s %12s %14s %14s\n", "samples", "threads", "tile", "s / epoch",
              "events / s", "whole / tiled");
  for (const int threads : {1, 2})
    for (const std::int64_t samples : {10, 102}) compare(environment, samples, threads);
}
