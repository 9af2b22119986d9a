#pragma once
#include <cstdint>
#include <string>

#include "sagips/comm/exchange.hpp"

namespace sagips::comm {

/// The clock at the beginning of an epoch: one more than before, and not behind the epoch.
std::uint64_t tick(std::uint64_t clock, std::int64_t epoch);

/// Whether what carries this stamp may be used at `now`; counts it either way. Stamp 0: not written
/// yet.
bool is_fresh(std::uint64_t stamp, std::uint64_t now, std::int64_t max_age, Freshness& freshness);

/// throws: StateError
std::uint64_t clock_from(const State& state, const std::string& name);

}  // namespace sagips::comm
