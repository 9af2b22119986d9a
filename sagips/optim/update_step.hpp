#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sagips/nn/replica.hpp"
#include "sagips/optim/adam.hpp"
#include "sagips/optim/batch.hpp"

namespace sagips::optim {

/// One network's share of an epoch: gradients of its loss over a batch, then an update. The two are
/// apart, so that an exchange between ranks fits between them.
struct UpdateStep {
  std::string name;  ///< "generator"
  nn::Replica* replica = nullptr;
  Adam* adam = nullptr;
  bool separable = true;  ///< the batch's loss is the sum over tiles of their contributions
  std::vector<std::string> loss_names;  ///< what `gradients` returns, in its order

  /// Adds a tile's contribution to the gradients of `leaves`; returns its contributions to the
  /// losses, divided by their equilibrium value.
  std::function<std::vector<double>(Batch& batch, const Tile& tile, nn::Leaves& leaves)> gradients;
};

/// What happens to a step, in the order of an epoch.
struct Action {
  enum class Kind { gradients, update };
  Kind kind;
  std::size_t step;  ///< index into the optimizer's steps
};

}  // namespace sagips::optim
