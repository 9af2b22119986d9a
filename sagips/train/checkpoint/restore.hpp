#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sagips/comm/ranks.hpp"
#include "sagips/nn/state.hpp"
#include "sagips/record/checkpoint_store.hpp"

namespace sagips::train {

/// What a rank goes on with.
struct Restored {
  nn::State state;
  std::int64_t epoch = 0;  ///< of rank 0 then
  double time_s = 0;
  int ranks = 1;  ///< that wrote it; with another number now, rank r has that of `source_rank`
};

/// The rank whose state a rank takes, among `ranks` that wrote a checkpoint: itself if it was one
/// of them, else they take turns. kinds: rank r does the work r mod kinds
/// (`ranks.channels=divided`), and takes the state of one that did the same
int source_rank(int rank, int ranks, int kinds);

/// The newest checkpoint that every rank can read; a damaged or foreign one is told of and the one
/// before it taken. Nothing when the run has written none yet. kinds: as in `source_rank`. collective
/// throws: DataError when there are some and none is usable: nothing is begun anew in silence
std::optional<Restored> restore(comm::Ranks& ranks, const record::CheckpointStore& store,
                                const std::function<void(const std::string&)>& warn, int kinds = 1);

/// Takes from a state what belongs to a part that is begun anew: names that begin with `prefix`.
void forget(nn::State& state, const std::string& prefix);

}  // namespace sagips::train
