#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sagips/nn/layers/layer.hpp"

namespace sagips::nn {

class LayerConfig;

/// Layers one behind the other, over weights that somebody else keeps: a network, or a layer that holds
/// chains.
class Chain {
 public:
  /// What layers keep for the leaves of one thread, by their place in the chain.
  using Bound = std::map<std::size_t, std::shared_ptr<void>>;

  Chain() = default;
  /// Adds what its layers need to that of `around`, in order; no layers: what goes in comes out.
  /// tensors: that its input is made of; prefix: of its layers' names; key: of the list in a config
  /// throws: core::ConfigError when a layer does not fit the one before
  Chain(const std::vector<LayerConfig>& layers, const Shape& input, const core::RowTensors& tensors,
        const std::string& prefix, const std::string& key, LayerPlace& around);

  const Shape& output() const { return output_; }
  const core::RowTensors& output_tensors() const { return output_tensors_; }
  const std::vector<LayerSummary>& layers() const { return layers_; }
  std::size_t parameters() const { return parameters_; }  ///< how many tensors are its layers' own
  std::size_t buffers() const { return buffers_; }
  /// Its shape where kernels::MlpPasses can evaluate it.
  std::optional<kernels::MlpShape> dense_chain() const;
  /// Behind each of its layers, where all are dense on flat rows, with a bias; else none.
  std::vector<const Activation*> dense_activations() const;

  Bound bind(std::span<torch::Tensor> weights, std::span<torch::Tensor> buffers) const;
  /// weights, buffers: its own. shape: [rows, input] -> [rows, output]
  torch::Tensor operator()(torch::Tensor values, std::span<const torch::Tensor> weights,
                           std::span<torch::Tensor> buffers, const Bound& bound,
                           const Evaluation& evaluation) const;

 private:
  void add(const LayerConfig& config, const std::string& name, const std::string& key,
           LayerPlace& around);
  struct Placed {
    std::shared_ptr<Layer> layer;
    std::size_t parameters, buffers;  ///< how many are its own
    std::uint32_t number;
    bool only_flattens;
    Shape only_repeats;
    const Activation* connects;
  };
  std::vector<Placed> placed_;
  std::vector<LayerSummary> layers_;
  Shape input_, output_;
  core::RowTensors output_tensors_;
  std::size_t parameters_ = 0, buffers_ = 0;
};

}  // namespace sagips::nn
