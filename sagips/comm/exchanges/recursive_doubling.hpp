#pragma once
#include "sagips/comm/schedule.hpp"

namespace sagips::comm {

/// Pairs at distance 1, 2, 4, ... swap whole arrays and add.
///
/// The fewest messages: best for short arrays (below some 100 KB for hundreds of ranks).
///
/// cost:    log2(n) messages, log2(n) * 4 * shared bytes, for powers of two; other numbers fold the
///          surplus ranks in and out
/// source:  Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005) 49
Schedule recursive_doubling(const Group& group, std::size_t floats);

}  // namespace sagips::comm
