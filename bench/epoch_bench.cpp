#include <cstdio>
#include <fstream>
#include <string>

#include "bench/measuring.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/memory.hpp"
#include "sagips/optim/gan/gan.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/train/loop.hpp"
#include "workloads/proxy1d/proxy1d.hpp"

// Epochs of proxy1d at the paper's setting, one turn a line of standard input: bench/epoch_bench.py
// lets programs like this one take turns. "go K" runs K epochs and prints their mean time.

namespace {

using namespace sagips;

/// A line of /proc/self/status, in MiB.
double memory_mb(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (double kilobytes = 0; word == name + ":" && status >> kilobytes) return kilobytes / 1024;
  return 0;
}

optim::GanConfig gan_config(const bench::Options& options) {
  optim::GanConfig config;
  config.batch = {.samples = static_cast<std::int64_t>(options.number("samples")), .events = 100};
  config.discriminator.input = optim::DiscriminatorConfig::Input::raw;
  config.optimizer.update = options.text("update") == "simultaneous"
                                ? optim::UpdateMode::simultaneous
                                : optim::UpdateMode::alternating;
  config.dense.library = options.text("library");
  config.dense.block_rows = static_cast<std::int64_t>(options.number("block-rows"));
  return config;
}

void take_turns(const bench::Options& options) {
  const int threads = nn::set_threads(static_cast<std::int64_t>(options.number("threads")));
  nn::keep_freed_memory();
  const auto workload = workloads::proxy1d_workload().make();
  problem::DataSettings data;
  data.toy_events = 100000;
  const auto environment = problem::load_data(*workload, data, 1).training();
  optim::Gan gan(gan_config(options), environment, 1, torch::kCPU);
  train::LoopConfig config;
  config.engine.tile_samples = static_cast<std::int64_t>(options.number("tile-samples"));
  config.engine.threads = threads;
  train::Loop loop(config, gan, {});

  // what stays from set-up: weights, data, the libraries; the first epochs come after that
  const double resident = memory_mb("VmRSS");
  std::int64_t epochs = 2;
  loop.run_epochs(epochs);
  std::printf("ready {\"name\": \"sagips %s\", \"threads\": %d, \"resident_mb\": %.1f}\n",
              options.text("update").c_str(), threads, resident);
  std::fflush(stdout);
  bench::answer_turns(
      [&](int more) { loop.run_epochs(epochs += more); },
      [] { return core::text(", \"peak_mb\": ", core::fixed(memory_mb("VmHWM"), 1)); });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    take_turns(bench::Options({{"samples", "1024"},
                               {"threads", "1"},
                               {"update", "alternating"},
                               {"library", "auto"},
                               {"block-rows", "0"},
                               {"tile-samples", "0"}},
                              argc, argv));
  } catch (const core::Error& error) {
    std::fprintf(stderr, "epoch_bench: %s\n", error.what());
    return 2;
  }
}
