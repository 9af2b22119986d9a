#pragma once
#include <string>
#include <vector>

#include "sagips/data/examples.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// Makes numbers of mean 0 and deviation 1. Of rows of one or two dimensions each number has its own
/// mean and deviation, of images (three and four) each channel; a number that never changes stays as it is.
struct Standard {
  torch::Tensor mean,
      deviation;  ///< of a row's shape, an image's [channels, 1, 1]; undefined: none

  torch::Tensor apply(const torch::Tensor& rows) const;
  torch::Tensor undo(const torch::Tensor& rows) const;
};

/// What a training takes from its rows before it begins; weights of rows count.
struct RowStatistics {
  double weight = 1;             ///< mean over rows
  torch::Tensor class_shares{};  ///< of all weights [classes] float64, where targets are classes
  Standard inputs{}, targets{};
  std::vector<torch::Tensor> head_class_shares{};  ///< of each head (optim/learn/heads.hpp), if any
};

/// In one pass over the rows, on the first rank alone where they are in files.
/// throws: DataError for weights that are all zero; collective
RowStatistics statistics_of(const ExampleRows& rows, bool of_inputs, bool of_targets,
                            const Reading& reading = {});

}  // namespace sagips::data
