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

/// A network evaluated by kernels::MlpPasses: forward and backward in one go while a block of rows
/// is in the cache. Tests compare it with the network's own layers on LibTorch. Differentiable once, not
/// twice.
class FusedMlp {
 public:
  /// Nothing where LibTorch has to do it: another device, other layers, or the config says so.
  static std::unique_ptr<FusedMlp> make(const Network& network, const DenseConfig& config,
                                        torch::Device device);

  /// Takes the weights that the next calls use; on one thread. The other calls may come from many.
  void pack(const Leaves& leaves);

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
  /// accumulators. Of several outputs, the input must not ask for a gradient.
  /// shape: input [..., inputs] -> [...], or [..., outputs] where there are several
  torch::Tensor learn(const torch::Tensor& input, const Slopes& slopes, Leaves& leaves) const;

 private:
  explicit FusedMlp(kernels::MlpPasses passes) : passes_(std::move(passes)) {}

  kernels::MlpPasses passes_;
};

}  // namespace sagips::nn
