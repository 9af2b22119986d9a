#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/row_tensors.hpp"
#include "sagips/nn/network.hpp"

namespace sagips::nn {

/// The function between layers, by its name in a config.
struct Activation {
  std::string name = "none";
  double negative_slope = 0.2;  ///< of leaky_relu
  void fields(core::FieldList& list);
  /// throws: core::Error for a slope that the function does not have
  void check() const;
  torch::Tensor operator()(const torch::Tensor& input) const;
  /// The same for kernels::MlpPasses; nothing where these do not have it.
  std::optional<kernels::PanelActivation> fusable() const;
};

/// What a layer has declared, and where it stands in a network.
struct LayerPlace {
  std::string name;                  ///< "layer3"
  std::string key{};                 ///< in a config: "network.layers.3"
  std::uint32_t number = 0;          ///< that names its random numbers
  std::uint32_t next_number = 0;     ///< of a layer behind it, or inside it
  core::RowTensors input_tensors{};  ///< that its input is made of
  core::RowTensors output_tensors{};
  std::vector<LayerSummary> inside{};
  std::vector<ParameterTensor> parameters{};
  std::vector<BufferTensor> buffers{};
  std::int64_t operations = 0;  ///< multiply-adds of one sample
  bool separable = true, keeps_to_own_rows = false, is_random = false, skips_empty = false;
  bool only_flattens = false;
  Shape only_repeats{};  ///< of a layer that repeats each number so often in each dimension
  std::string script{};  ///< file of a TorchScript module
  const Activation* connects = nullptr;  ///< of a dense layer with a bias on flat rows

  /// Its starting values are drawn from a uniform distribution of width 1 / sqrt(fan_in) on both
  /// sides, as PyTorch does.
  void parameter(const std::string& of, Shape shape, std::int64_t fan_in, bool is_bias);
  void constant(const std::string& of, const Shape& shape, double value, bool is_bias);
  void buffer(const std::string& of, const Shape& shape, double value);
};

/// What a layer's weights begin at, by its name in a config.
struct InitialValues {
  std::string name = "default";  ///< as whoever initialises the network draws them
  void field(core::FieldList& list);
  /// Gives such values to all weights that the layer has declared so far, and zeros to its biases. Each
  /// tensor draws from a sample number of the stream that its name makes.
  /// source: as Keras' VarianceScaling and torch.nn.init have them, both of which count the numbers that
  /// meet and leave a layer by the shape of its weights: [out, in, places ...]
  void apply(LayerPlace& place) const;
};

/// What a layer is evaluated with: its own weights and buffers, and its number for random numbers.
struct LayerTensors {
  std::span<const torch::Tensor> weights;
  std::span<torch::Tensor> buffers;
  std::uint32_t number = 0;
  void* bound = nullptr;  ///< what `bind` has made for these leaves
};

/// One entry of `layers: [...]`: options until `declare`, then a function of weights and input.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual void fields(core::FieldList& list) = 0;
  /// A layer of the same options, to be declared: networks share none.
  virtual std::shared_ptr<Layer> copy() const = 0;
  /// Says which weights it needs for such samples, and what it makes of them. Where these are several
  /// tensors (`place.input_tensors`) and it knows nothing of names, it gets them flat, one behind the other.
  /// throws: core::Error for samples that do not fit, in words that the network puts a place before
  virtual Shape declare(const Shape& input, LayerPlace& place) = 0;
  /// Asked when it is declared, of a layer behind one that only repeats numbers: whether it does so itself,
  /// more cheaply, and will be given those that are not repeated yet. factor: how often, in each dimension
  virtual bool repeats(const Shape& /*factor*/) { return false; }
  /// What it keeps for the leaves of one thread; it may put tensors of its own that lie in the same
  /// memory in place of these. Null: it keeps nothing.
  virtual std::shared_ptr<void> bind(std::span<torch::Tensor>, std::span<torch::Tensor>) const {
    return nullptr;
  }
  /// shape: [rows, input] -> [rows, output]
  virtual torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                                   const Evaluation& evaluation) const = 0;
};

/// A layer that is copied as `T`.
template <class T, class Base = Layer>
class CopiedLayer : public Base {
 public:
  std::shared_ptr<Layer> copy() const override {
    return std::make_shared<T>(static_cast<const T&>(*this));
  }
};

}  // namespace sagips::nn
