#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <torch/types.h>

#include "sagips/core/config/config.hpp"
#include "sagips/kernels/mlp_passes.hpp"
#include "sagips/nn/network.hpp"
#include "sagips/nn/replica.hpp"

namespace sagips::nn {

/// How dense layers are evaluated. Every choice gives the same numbers up to rounding in float32.
struct DenseConfig {
  std::string library = "auto";
  std::int64_t block_rows = 0;

  void fields(core::FieldList& list);
};

/// A loss of single outputs z whose slope the passes on a GPU know: factor times (sigmoid(z) - label)^2,
/// the binary cross-entropy of sigmoid(z) and the label, or (1 - 2 label) z.
struct KnownLoss {
  enum class Kind { none, least_squares, cross_entropy, linear };
  Kind kind = Kind::none;
  double label = 0, factor = 1;
};

/// A network of dense layers, evaluated by passes of our own: forward and backward in one go while a block of rows
/// is in the cache (kernels::MlpPasses), or on a GPU in shared memory (sagips/cuda/dense.cu). Tests compare them
/// with the network's own layers on LibTorch. Differentiable once, not twice.
class FusedMlp {
 public:
  /// Nothing where LibTorch has to do it: other layers or sizes, a device without passes of ours, or the config
  /// says so.
  static std::unique_ptr<FusedMlp> make(const Network& network, const DenseConfig& config,
                                        torch::Device device);
  virtual ~FusedMlp() = default;

  /// Takes the weights that the next calls use; on one thread. The other calls may come from many.
  virtual void pack(const Leaves& leaves) = 0;

  /// The outputs of a network with one output, differentiable by the input; the weights get no
  /// gradients.
  /// shape: input [..., inputs] -> [...]
  torch::Tensor operator()(const torch::Tensor& input) const;
  /// The outputs, differentiable by the weights: the backward pass adds their gradients to the
  /// leaves' accumulators. The leaves and this object must live until then.
  /// shape: input [rows, inputs] -> [rows, outputs]
  torch::Tensor operator()(const torch::Tensor& input, Leaves& leaves) const;

  /// d loss / d output of some rows, given their outputs.
  using Slopes = kernels::MlpPasses::Slopes;
  /// Evaluates as the first form does, and adds the weights' gradients of that loss to the leaves'
  /// accumulators. Of several outputs, the input must not ask for a gradient. Of passes on the CPU alone.
  /// shape: input [..., inputs] -> [...], or [..., outputs] where there are several
  virtual torch::Tensor learn(const torch::Tensor& input, const Slopes& slopes,
                              Leaves& leaves) const;
  /// The same of a known loss, of a network with one output, on a GPU alone; without a graph.
  virtual torch::Tensor learn(const torch::Tensor& input, const KnownLoss& loss,
                              Leaves& leaves) const;
  virtual bool is_on_cpu() const = 0;

  /// What is behind the operators. slopes: null, or where d output / d input goes, of one output
  /// shape: input [rows, inputs] -> [rows, outputs]; slopes as the input
  virtual torch::Tensor outputs(const torch::Tensor& input, torch::Tensor* slopes) const = 0;
  /// Adds the weights' gradients. slopes: d loss / d output. shape: [rows, outputs]
  virtual void add_gradients(const torch::Tensor& input, const torch::Tensor& slopes,
                             Leaves& leaves) const = 0;
};

/// Passes on a GPU; null where it does not take the network. See FusedMlp::make.
std::unique_ptr<FusedMlp> make_device_mlp(const kernels::MlpShape& shape, torch::Device device);

}  // namespace sagips::nn
