#pragma once
#include <cstdint>

namespace sagips::problem {

/// Which of the ranks of a run this one is. Random numbers are named by the place in the whole run's
/// batch, so the ranks' batches together are the batch that one rank would draw.
struct RankPlace {
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
};

}  // namespace sagips::problem
