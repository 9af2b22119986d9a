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
  int ranks = 1;  ///< that wrote it; with another number now, rank r has the state of r mod ranks
};

/// The newest checkpoint that every rank can read; a damaged or foreign one is told of and the one
/// before it taken. Nothing when the run has written none yet. collective
/// throws: DataError when there are some and none is usable: nothing is begun anew in silence
std::optional<Restored> restore(comm::Ranks& ranks, const record::CheckpointStore& store,
                                const std::function<void(const std::string&)>& warn);

/// Takes from a state what belongs to a part that is begun anew: names that begin with `prefix`.
void forget(nn::State& state, const std::string& prefix);

}  // namespace sagips::train
