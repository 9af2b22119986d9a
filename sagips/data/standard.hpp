#pragma once
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// Makes numbers of mean 0 and deviation 1. Of rows of one or two dimensions each number has its own
/// mean and deviation, of images (three and four) each channel; a number that never changes stays as it is.
struct Standard {
  torch::Tensor mean,
      deviation;  ///< of a row's shape, an image's [channels, 1, 1]; undefined: none

  torch::Tensor apply(const torch::Tensor& rows) const;
  torch::Tensor undo(const torch::Tensor& rows) const;
  /// The same of some of the rows, in one pass over them. shape: numbers [n] int64 -> [n, ...]
  torch::Tensor apply_to(const torch::Tensor& rows, const torch::Tensor& numbers) const;
};

}  // namespace sagips::data
