#pragma once
#include "sagips/comm/ranks.hpp"
#include "sagips/core/log.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// A job's events: on each rank rows of its own where the config shards a file, else all of them on
/// every rank, read by rank 0 alone. collective. throws: what problem::read_events throws
/// needs_gradient: of the pipelines, by whoever solves the problem
problem::LoadedData load_data(const Job& job, comm::Ranks& ranks, core::Log& log,
                              bool needs_gradient = true);

/// Warns of measured events that are hardly what the workload means.
void warn_of_data(const problem::LoadedData& data, core::Log& log);

/// What a rank trains on. throws: ConfigError for an unknown exchange
problem::DataShare training_share(const Job& job, const comm::Ranks& ranks);

/// Parts in which no event is twice: for sums over ranks.
problem::DataShare parts_share(const Job& job, const comm::Ranks& ranks);

}  // namespace sagips::run
