#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/nn/layers/chain.hpp"
#include "sagips/nn/layers/layer.hpp"

namespace sagips::nn {

struct Branch;

/// One layer of `layers: [...]` in a config; one of its keys says which kind it is: {dense: 128,
/// activation: relu}, {convolution: 32, kernel: [3, 3]}, {max_pooling: [2, 2]}, {flatten: {}}, ...
class LayerConfig {
 public:
  /// throws: ConfigError when no key is a kind
  static LayerConfig from(const core::GivenItem& given);
  /// One with its default options. throws: std::out_of_range for a kind that there is not
  static LayerConfig of(const std::string& kind);
  static LayerConfig dense(std::int64_t outputs, const Activation& activation);
  /// Branches that end in tensors of their names. key: of these in a config, for messages
  static LayerConfig heads(std::vector<Branch> branches, const std::string& key);
  /// One of each kind with its default options, to be described.
  static std::vector<LayerConfig> kinds();
  void fields(core::FieldList& list);

  const std::string& kind() const { return kind_; }
  std::shared_ptr<Layer> layer() const { return layer_->copy(); }
  std::int64_t repeat() const { return repeat_; }  ///< so many of it, each with weights of its own
  static std::string help();                       ///< of a list of these

 private:
  LayerConfig(std::string kind, std::shared_ptr<Layer> layer)
      : kind_(std::move(kind)), layer_(std::move(layer)) {}
  std::string kind_;
  std::shared_ptr<Layer> layer_;
  std::int64_t repeat_ = 1;
};

/// Layers one behind the other.
class LayeredNetwork final : public Network {
 public:
  /// place: the key of the list, for messages; tensors: that a row of the input is made of
  /// throws: ConfigError when a layer does not fit the one before
  LayeredNetwork(const std::vector<LayerConfig>& layers, const Shape& input,
                 const std::string& place = "network.layers", const core::RowTensors& tensors = {});

  void bind(Leaves& leaves) const override {
    leaves.bound = chain_.bind(leaves.tensors, leaves.buffers);
  }
  torch::Tensor operator()(const Leaves& leaves, const torch::Tensor& input,
                           const Evaluation& evaluation) const override;

 private:
  Chain chain_;
};

}  // namespace sagips::nn
