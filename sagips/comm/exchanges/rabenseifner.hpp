#pragma once
#include "sagips/comm/topology.hpp"

namespace sagips::comm {

/// Reduce-scatter by recursive halving, all-gather by recursive doubling.
///
/// As few bytes as the chunked ring in 2 log2(n) messages: the choice for the gradients of the
/// paper's networks (200 KB) over many ranks.
///
/// cost:    2 log2(n) messages, 2 (n - 1) / n * 4 * shared bytes, for powers of two; other numbers
///          fold the surplus ranks in and out: two more messages of the whole array
/// source:  Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005) 49
inline Schedule rabenseifner(const Group& group, std::size_t floats) {
  return halving_doubling(group.index(), group.size(), {0, floats});
}

}  // namespace sagips::comm
