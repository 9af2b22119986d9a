#pragma once
#include <deque>
#include <limits>
#include <string>

#include "sagips/data/torch.hpp"

namespace sagips::optim {

/// A loss that compares a network's outputs with targets, row by row.
struct Loss {
  /// classes: their numbers [rows]; else targets are shaped as the outputs
  enum class Targets { classes, yes_or_no, values };
  std::string name;
  Targets targets = Targets::values;
  /// shapes: outputs [rows, ...], targets [rows] int64 or [rows, ...] -> [rows]
  torch::Tensor (*rows)(const torch::Tensor& outputs, const torch::Tensor& targets);
  /// What outputs stand for: probabilities, means. Null: themselves.
  torch::Tensor (*meaning)(const torch::Tensor& outputs) = nullptr;
  /// Targets beyond these have no such loss.
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();

  bool of_classes() const { return targets == Targets::classes; }
  torch::Tensor predicted(const torch::Tensor& outputs) const {
    return meaning ? meaning(outputs) : outputs;
  }
};

/// source: definitions as PyTorch has them; what it averages over a row's outputs is averaged here
const std::deque<Loss>& losses();
/// A loss of a user's own, from now on known by its name; an earlier one of that name is replaced, since
/// a plug-in may be loaded more than once. Called before configs are read or from a plug-in, on one
/// thread. throws: StateError when SAGIPS has one of that name
void add_loss(Loss loss);
/// key: for messages. throws: ConfigError for an unknown name
const Loss& loss_named(const std::string& name, const std::string& key);

}  // namespace sagips::optim
