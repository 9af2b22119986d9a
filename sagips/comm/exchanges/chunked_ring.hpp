#pragma once
#include "sagips/comm/schedule.hpp"

namespace sagips::comm {

/// A ring that passes pieces: a reduce-scatter, then an all-gather, of n pieces each.
///
/// Every rank talks to its neighbours only and sends less than two arrays whatever n is: best for
/// long arrays, few ranks and shared links; many ranks pay 2 (n - 1) latencies.
///
/// cost:    2 (n - 1) messages, 2 (n - 1) / n * 4 * shared bytes
/// source:  Patarasuk, Yuan, JPDC 69 (2009) 117
Schedule chunked_ring(const Group& group, std::size_t floats);

}  // namespace sagips::comm
