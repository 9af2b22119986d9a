#pragma once
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/nn/state.hpp"
#include "sagips/record/event.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/run/rank_summary.hpp"

namespace sagips::run {

/// Keeps what the final table needs; `kept` may hold what a run saw before a restart.
record::Observer keeper(TrainingRecord& kept);
/// Puts warnings into the log.
record::Observer warner(core::Log& log);
/// Counts epochs, time and synthetic events analysed in this rank's training time.
record::Observer counter(RankRow& row);

/// What these need to go on after a restart.
void watch_state(nn::StateList& list, TrainingRecord& kept, RankRow& row);

}  // namespace sagips::run
