#include "sagips/run/training_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/run/generation_task.hpp"
#include "sagips/run/monitor.hpp"
#include "sagips/train/engine.hpp"

namespace sagips::run {

namespace {

constexpr std::int64_t trial_rows = 4;

/// Counts what tensors take on this thread: LibTorch's allocator tells it.
class TensorBytes final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t,
                         c10::Device) override {
    now_ += bytes;
    highest_ = std::max(highest_, now_);
  }
  bool memoryProfilingEnabled() const override { return true; }
  double highest() const { return static_cast<double>(highest_); }

 private:
  std::int64_t now_ = 0, highest_ = 0;
};

// What work on so many rows takes, by that on a few of them.
double bytes_for(std::int64_t rows, const std::function<void(std::int64_t rows)>& work) {
  const auto measured = [&](std::int64_t few) {
    const auto bytes = std::make_shared<TensorBytes>();
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, bytes);
    work(few);
    return bytes->highest();
  };
  if (rows <= trial_rows) return measured(rows);
  constexpr std::int64_t half_rows = trial_rows / 2;
  const double half = measured(half_rows), all = measured(trial_rows);
  return all +
         (all - half) / static_cast<double>(half_rows) * static_cast<double>(rows - trial_rows);
}

// Of this machine, or of the container that the program runs in.
double machine_bytes() {
  const double all =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  std::ifstream file("/sys/fs/cgroup/memory.max");
  double limit = 0;
  return file >> limit ? std::min(all, limit) : all;
}

// Of those of a batch, which a pass may cut into tiles.
std::int64_t rows_at_once(const Job& job, const optim::Pass& pass, std::int64_t batch, int ranks) {
  train::EngineConfig config = job.settings.loop.engine;
  config.threads = nn::set_threads(job.settings.threads, ranks);
  optim::Batch whole;
  whole.samples = batch;
  std::int64_t largest = 0;
  for (const optim::Tile& tile : train::Engine(config).tiles(pass, whole))
    largest = std::max(largest, tile.samples);
  return std::min(batch, largest * config.threads);
}

}  // namespace

std::string memory_of_training(const Job& job, const data::ExampleSets& sets, int ranks) {
  const data::ExampleRowsPtr some = data::hold(sets.training->first(trial_rows));
  const auto learned = make_adversarial(job, {.training = some});
  const double before = resident_mb() * 1e6;
  const auto batch = learned->draw(1);
  // In an update of the generator both networks keep what they put out.
  const optim::Pass& pass = learned->passes().back();
  nn::Leaves* const leaves = &learned->steps()[pass.steps[0]].replica->leaves();
  const std::int64_t in_batch =
      std::min(job.as<GenerationProblem>()->learner.batch, sets.training->rows());
  const double learning = bytes_for(
      rows_at_once(job, pass, in_batch, ranks),
      [&](std::int64_t rows) { pass.gradients(*batch, {.samples = rows}, std::span(&leaves, 1)); });
  double judging = 0;
  if (const std::int64_t kept = sets.validation->rows(); kept > 0)
    judging = bytes_for(std::min(kept, learned->rows_at_once()), [&](std::int64_t rows) {
      learned->metrics(*data::hold(some->first(rows)));
    });
  // What the allocator keeps at its end and, as it gives nothing back (nn::keep_freed_memory), gaps that arrays have
  // left: with those of the laptop network, batch 1000, mapped by themselves a training took 0.89 GB in place of
  // 1.25 to 1.34. 10 to 70 % were seen, also with what LibTorch's convolutions use beside.
  constexpr double kept_free = 64 << 20, gaps = 1.4;
  // A batch whole, as it was read, as it was made, and the next one.
  const double batches =
      3 * static_cast<double>(in_batch) * static_cast<double>(some->first(1).inputs.nbytes());
  const double beside = before + kept_free + batches, other = beside + gaps * learning,
               first = beside + gaps * std::max(learning, judging),
               node = first + (ranks - 1) * other, there = machine_bytes();
  const auto gigabytes = [](double bytes) { return core::significant(bytes / 1e9, 2) + " GB"; };
  return core::text(
      "memory: about ", gigabytes(first), " a rank for a training (batch ", in_batch, ")",
      ranks == 1 ? ""
                 : core::text(", ", gigabytes(node), " for the ", ranks, " ranks of this node"),
      node <= there ? ""
                    : core::text(", and this machine has ", gigabytes(there),
                                 ". Lower the batch or data.validation_rows."));
}

}  // namespace sagips::run
