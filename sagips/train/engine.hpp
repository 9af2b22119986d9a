#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/nn/workers.hpp"
#include "sagips/optim/learn/update_step.hpp"
#include "sagips/train/thread_choice.hpp"

namespace sagips::train {

struct EngineConfig {
  std::int64_t tile_samples = 0;
  /// Threads that may take tiles; the program sets it from its `threads`.
  int threads = 1;
  bool chooses_threads = false;  ///< as many of them as pay, found by trial; else all
  /// Polls within a tile, too, by the clock: simulated ranks, whose clock is another one, do not.
  bool polls_within_tiles = true;
  bool takes_whole_batches =
      false;  ///< unless tile_samples is set: on a GPU, which tiles leave idle
  void fields(core::FieldList& list);
};

/// Evaluates a pass' losses and gradients over a batch, piece by piece.
///
/// A separable loss goes tile by tile, so that memory does not grow with the batch; other losses run
/// whole, with LibTorch's threads inside its operations. Tiles are dealt in groups of neighbours to
/// whichever thread is free; each group has a gradient accumulator of its own, and these are added
/// in order. So a result depends on the tiles and the number of groups alone, which follow from the
/// batch and the threads that there may be: it repeats bit for bit however many of these take part.
class Engine {
 public:
  explicit Engine(const EngineConfig& config) : config_(config), workers_(config.threads) {}

  /// Fills the gradients of the pass' steps and returns its losses. `poll` is called between tiles,
  /// and now and then within one (core::poll), on the calling thread.
  /// steps: those of the optimizer
  /// shape: [losses], float64
  torch::Tensor gradients(const optim::Pass& pass, std::span<optim::UpdateStep> steps,
                          optim::Batch& batch, const std::function<void()>& poll);

  /// How many threads have taken part of those that there may be, in words; empty: all, or nothing yet.
  std::string threads_that_pay() const;

  /// The tiles of a batch.
  std::vector<optim::Tile> tiles(const optim::Pass& pass, const optim::Batch& batch) const;

 private:
  std::vector<nn::Leaves*> leaves_of(std::span<nn::Replica* const> replicas, std::size_t group);
  std::size_t group_count(std::span<nn::Replica* const> replicas, std::size_t tiles) const;
  /// How many threads a batch is worth at most: the same on any machine, busy or not.
  std::int64_t threads_worth(const optim::Pass& pass, const optim::Batch& batch) const;
  /// Null: there is nothing to choose.
  ThreadChoice* choice_for(const optim::Pass& pass, std::size_t groups);

  EngineConfig config_;
  nn::Workers workers_;
  std::map<const optim::Pass*, ThreadChoice> choices_;
  /// Accumulators beyond the replica's own leaves, which the first group has.
  std::map<const nn::Replica*, std::vector<nn::Leaves>> accumulators_;
};

}  // namespace sagips::train
