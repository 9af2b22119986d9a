#pragma once
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"

namespace sagips::optim {

/// A loss that compares a network's outputs with targets, row by row.
struct Loss {
  std::string name;
  bool of_classes =
      false;  ///< targets are class numbers [rows]; else they are shaped as the outputs
  /// shapes: outputs [rows, ...], targets [rows] int64 or [rows, ...] -> [rows]
  torch::Tensor (*rows)(const torch::Tensor& outputs, const torch::Tensor& targets);
};

/// source: definitions as PyTorch has them; what it averages over a row's outputs is averaged here
const std::vector<Loss>& losses();
/// key: for messages. throws: ConfigError for an unknown name
const Loss& loss_named(const std::string& name, const std::string& key);

}  // namespace sagips::optim
