#pragma once
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/env/events.hpp"
#include "sagips/optim/learn/batch.hpp"

namespace sagips::optim {

struct ChannelBatch {
  torch::Tensor real;  ///< [samples * events, observables], drawn with replacement
  /// Synthetic events that a step left for later steps (generator_first), outside any graph; one a
  /// sample range.
  std::vector<env::Events> kept;
};

/// What an epoch of a GAN works on, drawn once and shared by its update steps. Samples are of
/// parameters. One ChannelBatch a channel of the environment.
struct GanBatch final : Batch {
  torch::Tensor noise;        ///< [samples, noise_dimensions], N(0, 1): the generator's input
  torch::Tensor mean_logits;  ///< of all proposals, when the spread is penalised. shape: [free]
  std::vector<ChannelBatch> channels;
  /// Batches of the discriminator's steps beyond the first: measured events and noise of their own.
  std::vector<GanBatch> further;
};

}  // namespace sagips::optim
