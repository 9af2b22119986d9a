#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <torch/autograd.h>
#include <torch/types.h>

#include "sagips/nn/parameter.hpp"
#include "sagips/nn/state.hpp"

namespace sagips::nn {

class Network;

/// What of a network the ranks of a run share; the shared part comes first in the flat arrays.
enum class SharedPart { weights_only, all, none };

/// Leaf tensors over a replica's weights with gradients of their own: what one thread
/// differentiates. `tensors[i].grad()` is a view into the flat `gradients`.
struct Leaves {
  std::vector<torch::Tensor> tensors;    ///< in the network's order
  torch::Tensor gradients;               ///< flat, in the replica's order
  std::vector<torch::Tensor> buffers{};  ///< the network's; all leaves of a replica share them
  /// What layers keep for these leaves alone, by the layer's number: modules that look into them.
  std::map<std::size_t, std::shared_ptr<void>> bound{};
};

/// A network's weights and gradients, one flat float32 allocation each.
///
/// Exchange and optimizer work on the flat arrays, so nothing is ever packed. The views die
/// silently in four ways: gradients reset to none, `backward` with `create_graph`, moving a tensor,
/// `set_data`. So only the replica zeroes gradients, penalties use torch::autograd::grad, nothing
/// moves after construction, and `check_views` (called after each step in debug builds) compares
/// the pointers.
class Replica {
 public:
  Replica(std::vector<ParameterTensor> parameters, SharedPart shared, torch::Device device,
          const std::vector<BufferTensor>& buffers = {});
  Replica(std::shared_ptr<const Network> network, SharedPart shared, torch::Device device);
  Replica(Replica&&) = default;
  Replica& operator=(Replica&&) = default;

  const Network* network() const { return network_.get(); }  ///< null: it is not known here
  torch::Tensor weights() const { return weights_; }         ///< flat [size], shared part first
  torch::Tensor gradients() const { return leaves_.gradients; }
  std::int64_t size() const { return weights_.numel(); }
  std::int64_t shared_size() const { return shared_size_; }

  /// The shared part, for an exchange between ranks. CPU only.
  std::span<float> shared_weights();
  std::span<float> shared_gradients();

  /// What the network remembers beside its weights (running statistics), in the order of its buffers. CPU
  /// only.
  std::span<float> running_statistics();
  torch::Tensor buffers() const { return buffers_; }  ///< the same numbers, on any device

  Leaves& leaves() { return leaves_; }
  const Leaves& leaves() const { return leaves_; }
  /// Another accumulator over the same weights, for another thread.
  Leaves make_leaves() const;
  /// The network over other numbers, without gradients. flat: laid out as this replica's weights
  Leaves leaves_over(const torch::Tensor& flat) const;
  /// Adds an accumulator's gradients to the replica's own and zeroes it.
  void collect(Leaves& accumulator);
  void zero_gradients();

  const std::vector<ParameterTensor>& parameters() const { return parameters_; }
  /// View of parameter i in a flat array that is laid out like this replica's.
  torch::Tensor view(const torch::Tensor& flat, std::size_t i) const;

  /// throws: StateError when a leaf no longer looks into the flat arrays
  void check_views(const Leaves& leaves) const;
  void check_views() const { check_views(leaves_); }

  void state(StateList& list);

 private:
  std::shared_ptr<const Network> network_;  ///< null: none has to be told of leaves
  std::vector<ParameterTensor> parameters_;
  std::vector<std::int64_t> offsets_;
  std::int64_t shared_size_ = 0;
  torch::Tensor weights_, buffers_;  ///< flat; ranks do not exchange the latter
  std::vector<torch::Tensor> buffer_views_;
  Leaves leaves_;
};

}  // namespace sagips::nn
