#pragma once
#include <algorithm>
#include <cstdint>

#include "sagips/problem/rank_place.hpp"

namespace sagips::optim {

/// Which rows of a data epoch a step takes: those of all ranks together, and this rank's of them. The last
/// batch of a data epoch may be smaller.
struct BatchRows {
  std::uint32_t epoch = 1;                              ///< of the data, counts from 1
  std::int64_t begin = 0;                               ///< of all ranks' rows in the data epoch
  std::int64_t all = 0;                                 ///< ranks' rows together
  std::int64_t first = 0, count = 0;                    ///< this rank's, within those of all
  std::int64_t place() const { return begin + first; }  ///< of its first row in the data epoch

  /// batch: rows of a rank in a step
  static std::int64_t steps_per_epoch(std::int64_t rows, std::int64_t batch, std::int64_t ranks) {
    return (rows + batch * ranks - 1) / (batch * ranks);
  }
  /// step: counts from 1
  static BatchRows of(std::uint32_t step, std::int64_t rows, std::int64_t batch,
                      const problem::RankPlace& rank) {
    const auto number = static_cast<std::int64_t>(step) - 1;
    const std::int64_t steps = steps_per_epoch(rows, batch, rank.ranks),
                       together = batch * rank.ranks;
    BatchRows own{.epoch = static_cast<std::uint32_t>(number / steps + 1),
                  .begin = number % steps * together};
    own.all = std::min(together, rows - own.begin);
    own.first = own.all * rank.rank / rank.ranks;
    own.count = own.all * (rank.rank + 1) / rank.ranks - own.first;
    return own;
  }
};

}  // namespace sagips::optim
