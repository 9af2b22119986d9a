#pragma once
#include <cstdint>
#include <vector>

#include "sagips/core/file.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// Rows that come piece by piece and are one tensor in the end: in memory, or, once they take more than
/// that, in a file of $TMPDIR (else /tmp) that has no name and goes with the tensor. The kernel keeps of
/// it what memory has room for.
class GrowingRows {
 public:
  explicit GrowingRows(std::uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}

  /// rows: [n, ...] float32, of one shape but for n. throws: core::StorageError
  void add(const torch::Tensor& rows);
  /// All that were added, at least one piece. throws: core::StorageError
  torch::Tensor take();

 private:
  void write(const torch::Tensor& rows);

  std::uint64_t memory_bytes_, bytes_ = 0;
  std::int64_t rows_ = 0;
  std::vector<torch::Tensor> held_;
  std::vector<std::int64_t> row_;  ///< its shape
  core::Descriptor file_;          ///< -1: all rows are in memory
};

}  // namespace sagips::data
