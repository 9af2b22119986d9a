#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sagips/nn/replica.hpp"
#include "sagips/optim/learn/batch.hpp"
#include "sagips/optim/learn/update_rule.hpp"

namespace sagips::optim {

/// Keys of a config that say how a network is exchanged between ranks and how it learns, for messages.
struct NetworkKeys {
  std::string exchange = "exchange";
  std::string shared = "shared";
  std::string optimizer = "optimizer";  ///< the group that its `UpdateConfig` is
};

/// One network that learns: its weights, and how a gradient moves them. Gradients (a `Pass`) and
/// update are apart, so that an exchange between ranks fits between them.
struct UpdateStep {
  std::string name;  ///< "generator"
  nn::Replica* replica = nullptr;
  UpdateRule* rule = nullptr;
  /// Called after each update, when the ranks are done with it, too. Empty: nothing follows.
  std::function<void()> updated{};
  double progress =
      0;  ///< share of the run that is over when its gradients are new; the loop sets it
  std::string network{};  ///< whose settings it has, "discriminator"; empty: its name is that
  NetworkKeys keys{};
};

/// One sweep over a batch that fills the gradients of a network, or of several at once.
struct Pass {
  std::string name;
  std::vector<std::size_t> steps;  ///< whose gradients it fills: indices into the optimizer's steps
  bool separable = true;          ///< the batch's loss is the sum over tiles of their contributions
  std::int64_t tile_samples = 0;  ///< of a tile, where the pass knows better than its events tell
  std::int64_t operations = 0;    ///< multiply-adds of a sample, forward; 0: not known
  /// What `gradients` returns, in its order. Of a name in several passes the mean is told.
  std::vector<std::string> loss_names;

  /// Called before the first of so many tiles, on one thread. Empty: there is nothing to prepare.
  std::function<void(Batch& batch, std::int64_t tiles)> prepare{};
  /// Adds a tile's contribution to the gradients of the leaves, one set for each of `steps`; returns
  /// its contributions to the losses, which nobody reads before they are observed. Called from
  /// several threads at a time, each with tiles and leaves of its own.
  /// shape: [losses] or more, float64
  std::function<torch::Tensor(Batch& batch, const Tile& tile, std::span<nn::Leaves* const> leaves)>
      gradients{};
};

/// What happens in a step, in order.
struct Action {
  enum class Kind { gradients, update };
  Kind kind;
  std::size_t index;  ///< gradients: of the pass; update: of the step
};

}  // namespace sagips::optim
