#pragma once
#include <cstdint>

#include "sagips/nn/network.hpp"

namespace sagips::optim {

/// What one step works on, as the loop and the engine see it. What it holds belongs to the optimizer
/// that draws it, which derives from this.
struct Batch {
  Batch() = default;
  Batch(const Batch&) = default;
  Batch(Batch&&) = default;
  Batch& operator=(const Batch&) = default;
  Batch& operator=(Batch&&) = default;
  virtual ~Batch() = default;

  std::uint32_t step = 0;  ///< counts from 1; names the random numbers of the step
  double progress = 0;     ///< share of the run that is over, 0 to 1; the loop sets it
  const nn::AddUp* add_up =
      nullptr;               ///< where batch norms see the rows of all ranks; the loop sets it
  std::int64_t samples = 0;  ///< that can be worked on apart from each other
  std::int64_t events = 1;   ///< of each: what it counts in the work of a tile
  double weight = 1;         ///< among batches that make one update: how many rows all ranks have
};

/// A range of a batch's samples: the piece of work between two polls.
struct Tile {
  std::int64_t index = 0;
  std::int64_t first = 0;
  std::int64_t samples = 0;
};

}  // namespace sagips::optim
