#pragma once
#include <string>
#include <vector>

#include "sagips/data/examples.hpp"
#include "sagips/data/standard.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// What a training takes from its rows before it begins; weights of rows count.
struct RowStatistics {
  double weight = 1;             ///< mean over rows
  torch::Tensor class_shares{};  ///< of all weights [classes] float64, where targets are classes
  Standard inputs{}, targets{};
  std::vector<torch::Tensor> head_class_shares{};  ///< of each head (optim/learn/heads.hpp), if any
};

/// In one pass over the rows, on the first rank alone.
/// throws: DataError for weights that are all zero; collective
RowStatistics statistics_of(const ExampleRows& rows, bool of_inputs, bool of_targets,
                            const Reading& reading = {});

}  // namespace sagips::data
