#include "sagips/train/engine.hpp"

#include <algorithm>

namespace sagips::train {

void EngineConfig::fields(core::FieldList& list) {
  list.add("tile_samples", tile_samples,
           "parameter samples evaluated at a time; results differ only by summation order",
           core::Range::between(1, 1e8));
}

std::vector<double> Engine::gradients(const optim::UpdateStep& step, optim::Batch& batch,
                                      const std::function<void()>& poll) const {
  const std::int64_t tile_samples =
      step.separable ? std::min(config_.tile_samples, batch.samples) : batch.samples;
  step.replica->zero_gradients();
  std::vector<double> losses(step.loss_names.size(), 0.0);
  optim::Tile tile;
  for (; tile.first < batch.samples; ++tile.index, tile.first += tile.samples) {
    tile.samples = std::min(tile_samples, batch.samples - tile.first);
    const auto contribution = step.gradients(batch, tile, step.replica->leaves());
    for (std::size_t i = 0; i < losses.size(); ++i) losses[i] += contribution[i];
    if (poll) poll();
  }
#ifndef NDEBUG
  step.replica->check_views();
#endif
  return losses;
}

}  // namespace sagips::train
