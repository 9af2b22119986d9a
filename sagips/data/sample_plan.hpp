#pragma once
#include <cstdint>
#include <vector>

#include "sagips/data/torch.hpp"

namespace sagips::data {

/// In which order the rows of a data set are learned from: each of them once a data epoch.
///
/// A pure function of the seed, the data epoch and the number of rows: it knows neither ranks, batches
/// nor files. Up to `shuffle_rows` rows are one random order. Of more rows, chunks of neighbours are put
/// in a random order, and the rows of as many chunks as make a block are mixed with each other, so that
/// neither memory nor jumps in storage grow with the data.
class SamplePlan {
 public:
  static constexpr std::int64_t chunk_rows = 256;
  static constexpr std::int64_t default_shuffle_rows = std::int64_t{1} << 20;

  SamplePlan(std::int64_t rows, std::uint64_t seed,
             std::int64_t shuffle_rows = default_shuffle_rows);

  /// The rows at these places of a data epoch (counts from 1). One thread at a time.
  /// shape: [count] int64
  torch::Tensor rows_at(std::uint32_t epoch, std::int64_t place, std::int64_t count) const;

 private:
  std::int64_t rows_in(std::int64_t chunk) const;
  void begin_epoch(std::uint32_t epoch) const;
  torch::Tensor order_of(std::size_t block) const;

  std::int64_t rows_, block_chunks_;
  std::uint64_t seed_;
  // what is ordered at present
  mutable std::uint32_t epoch_ = 0;
  mutable std::size_t block_ = 0;
  mutable std::vector<std::int64_t> chunks_, block_begins_;
  mutable torch::Tensor order_;  ///< the rows of the block; undefined: none is ordered yet
};

}  // namespace sagips::data
