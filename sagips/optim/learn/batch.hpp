#pragma once
#include <cstdint>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/env/events.hpp"

namespace sagips::optim {

/// What one epoch works on, drawn once and shared by its update steps. One ChannelBatch a channel
/// of the environment.
struct ChannelBatch {
  torch::Tensor real;  ///< [samples * events, observables], drawn with replacement
  /// Synthetic events that a step left for later steps (generator_first), outside any graph; one a
  /// sample range.
  std::vector<env::Events> kept;
};

struct Batch {
  std::uint32_t epoch = 0;    ///< counts from 1; names the random numbers of the epoch
  double progress = 0;        ///< share of the run that is over, 0 to 1; the loop sets it
  std::int64_t samples = 0;   ///< parameter samples
  std::int64_t events = 0;    ///< events of each
  torch::Tensor noise;        ///< [samples, noise_dimensions], N(0, 1): the generator's input
  torch::Tensor mean_logits;  ///< of all proposals, when the spread is penalised. shape: [free]
  std::vector<ChannelBatch> channels;
  /// Batches of the discriminator's steps beyond the first: measured events and noise of their own.
  std::vector<Batch> further;
};

/// A range of a batch's parameter samples: the piece of work between two polls.
struct Tile {
  std::int64_t index = 0;
  std::int64_t first = 0;
  std::int64_t samples = 0;
};

}  // namespace sagips::optim
