#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sagips/nn/layers/layer.hpp"
#include "sagips/nn/layers/layer_config.hpp"

namespace sagips::nn {

/// A kind of layer, by the key that names it.
struct LayerKind {
  std::string key;
  std::function<std::shared_ptr<Layer>()> make;
};

template <class T>
LayerKind kind_of(const std::string& key) {
  return {key, [] { return std::make_shared<T>(); }};
}

/// Draws such a tensor from a distribution by its name. throws: std::out_of_range for an unknown one
std::function<torch::Tensor(const core::RandomStream&)> initial_values(
    const std::string& distribution, const ParameterTensor& parameter);

/// One of several chains beside each other.
struct Branch {
  std::string name;
  std::vector<LayerConfig> layers{};  ///< none: what goes in comes out
  std::string input{};  ///< tensor that it takes, where there are several; empty: that of its name
  void fields(core::FieldList& list);
};
/// Branches that end in tensors of their names. key: of these in a config, for messages
std::shared_ptr<Layer> heads_layer(std::vector<Branch> branches, const std::string& key);

std::shared_ptr<Layer> dense_layer(std::int64_t outputs, const Activation& activation);

std::vector<LayerKind>
dense_layers();  ///< dense, flatten, reshape, dropout, norms, embedding, activation
std::vector<LayerKind> image_layers();  ///< convolutions, pooling, upsampling: 1 to 3 dimensions
std::vector<LayerKind> recurrent_layers();  ///< over sequences
std::vector<LayerKind> composite_layers();  ///< that hold chains of layers
std::vector<LayerKind> pair_layers();       ///< over pairs of a sample's particles
std::vector<LayerKind> module_layers();     ///< torch::nn modules of programs and plug-ins
std::vector<LayerKind> script_layers();     ///< TorchScript modules of files

/// Training, the input with that share of its numbers left out and the others scaled up.
/// dimension: of the random numbers, which are named by the row in the batch of all ranks
torch::Tensor left_out(const torch::Tensor& input, double probability, const Evaluation& evaluation,
                       std::uint32_t dimension);

}  // namespace sagips::nn
