#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "sagips/core/config.hpp"
#include "sagips/optim/update_step.hpp"

namespace sagips::train {

struct EngineConfig {
  std::int64_t tile_samples = 64;
  void fields(core::FieldList& list);
};

/// Evaluates a step's loss and gradients over a batch, piece by piece.
///
/// A separable loss goes tile by tile, so that a tile's forward and backward pass stay in the cache
/// and memory does not grow with the batch; other losses run whole. The order of tiles is fixed, so
/// results repeat bit for bit.
class Engine {
 public:
  explicit Engine(EngineConfig config) : config_(config) {}

  /// Fills the replica's gradients and returns the step's losses. `poll` is called between tiles.
  std::vector<double> gradients(const optim::UpdateStep& step, optim::Batch& batch,
                                const std::function<void()>& poll) const;

 private:
  EngineConfig config_;
};

}  // namespace sagips::train
