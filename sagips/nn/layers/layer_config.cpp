#include "sagips/nn/layers/layer_config.hpp"

#include <algorithm>

#include "sagips/core/error.hpp"
#include "sagips/core/poll.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/layers/layers.hpp"

namespace sagips::nn {

using core::ConfigError;
using core::text;

std::string written(const Shape& shape) {
  std::vector<std::string> lengths;
  for (const std::int64_t length : shape) lengths.push_back(text(length));
  return core::join(lengths, " x ");
}

std::int64_t numbers_in(const Shape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t length : shape) product *= length;
  return product;
}

Shape shape_of_rows(const torch::Tensor& rows) {
  return Shape(rows.sizes().begin() + 1, rows.sizes().end());
}

namespace {

const std::vector<LayerKind>& all_kinds() {
  static const std::vector<LayerKind> all = [] {
    std::vector<LayerKind> kinds = dense_layers();
    for (const auto& more : {image_layers(), recurrent_layers(), module_layers(), script_layers()})
      kinds.insert(kinds.end(), more.begin(), more.end());
    return kinds;
  }();
  return all;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const LayerKind& kind : all_kinds()) names.push_back(kind.key);
  return names;
}

}  // namespace

LayerConfig LayerConfig::from(const core::GivenItem& given) {
  const auto is_given = [&](const std::string& key) {
    return std::find(given.keys.begin(), given.keys.end(), key) != given.keys.end();
  };
  const bool is_activation = std::all_of(given.keys.begin(), given.keys.end(), [](const auto& key) {
    return key == "activation" || key == "negative_slope" || key == "repeat";
  });
  for (const LayerKind& kind : all_kinds())  // other layers have an activation, too
    if (is_given(kind.key) && (kind.key != "activation" || is_activation))
      return {kind.key, kind.make()};
  const std::string first = given.keys.empty() ? "" : given.keys.front();
  throw ConfigError(given.where, text("no kind of layer in '", core::join(given.keys, ", "),
                                      "' of ", given.key, core::suggestion(first, kind_names())));
}

LayerConfig LayerConfig::of(const std::string& kind) {
  const std::vector<std::string> names = kind_names();
  const auto found = std::find(names.begin(), names.end(), kind);
  return {kind, all_kinds().at(static_cast<std::size_t>(found - names.begin())).make()};
}

LayerConfig LayerConfig::dense(std::int64_t outputs, const Activation& activation) {
  return {"dense", dense_layer(outputs, activation)};
}

std::vector<LayerConfig> LayerConfig::kinds() {
  std::vector<LayerConfig> configs;
  for (const LayerKind& kind : all_kinds()) configs.push_back({kind.key, kind.make()});
  return configs;
}

void LayerConfig::fields(core::FieldList& list) {
  layer_->fields(list);
  list.add("repeat", repeat_, "so many of it one behind the other; 0: left out",
           core::Range::between(0, 10000));
}

std::string LayerConfig::help() {
  return text("layers one behind the other, each by its kind: ", core::join(kind_names(), ", "));
}

void LayerPlace::parameter(const std::string& of, Shape shape, std::int64_t fan_in, bool is_bias) {
  parameters.push_back({name + "." + of, std::move(shape), fan_in, is_bias});
}

void LayerPlace::constant(const std::string& of, const Shape& shape, double value, bool is_bias) {
  parameters.push_back({name + "." + of, shape, 1, is_bias,
                        [=](const core::RandomStream&) { return torch::full(shape, value); }});
}

void LayerPlace::buffer(const std::string& of, const Shape& shape, double value) {
  buffers.push_back({name + "." + of, torch::full(shape, value)});
}

LayeredNetwork::LayeredNetwork(const std::vector<LayerConfig>& layers, const Shape& input,
                               const std::string& place) {
  if (layers.empty()) throw ConfigError(place, "is empty. Name at least one layer.");
  input_ = output_ = input;
  std::vector<LayerPlace> places;
  std::vector<std::size_t> in_turn;
  for (std::size_t i = 0; i < layers.size(); ++i)
    in_turn.insert(in_turn.end(), static_cast<std::size_t>(layers[i].repeat()), i);
  if (in_turn.empty()) throw ConfigError(place, "leaves all its layers out. Repeat one of them.");
  for (const std::size_t i : in_turn) {
    LayerPlace own{.name = text("layer", placed_.size())};
    const std::shared_ptr<Layer> layer = layers[i].layer();
    try {
      output_ = layer->declare(output_, own);
    } catch (const core::Error& error) {
      throw ConfigError(text(place, ".", i, " (", layers[i].kind(), ")"),
                        text(error.what(), " Its input is ", written(output_), "."));
    }
    std::int64_t weights = 0;
    for (const ParameterTensor& parameter : own.parameters) weights += parameter.size();
    layers_.push_back(
        {text(own.name, " ", layers[i].kind()), output_, weights, own.operations, own.script});
    placed_.push_back({layer, own.parameters.size(), own.buffers.size()});
    parameters_.insert(parameters_.end(), own.parameters.begin(), own.parameters.end());
    buffers_.insert(buffers_.end(), own.buffers.begin(), own.buffers.end());
    separable_ = separable_ && own.separable;
    is_random_ = is_random_ || own.is_random;
    places.push_back(std::move(own));
  }
  find_dense_chain(places);
}

void LayeredNetwork::find_dense_chain(const std::vector<LayerPlace>& places) {
  kernels::MlpShape chain;
  const Activation* between = nullptr;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool is_last = i + 1 == places.size();
    if (i == 0) chain.widths.push_back(numbers_in(input_));
    if (i == 0 && places[i].only_flattens) continue;
    const Activation* activation = places[i].connects;
    if (!activation) return;
    if (is_last ? activation->name != "none" : between && between->name != activation->name) return;
    if (!is_last) between = activation;
    chain.widths.push_back(layers_[i].output[0]);
  }
  if (!between || !between->fusable()) return;
  chain.activation = *between->fusable();
  fusable_ = chain;
}

void LayeredNetwork::bind(Leaves& leaves) const {
  std::size_t parameter = 0, buffer = 0;
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    const Placed& placed = placed_[i];
    if (auto kept =
            placed.layer->bind(std::span(leaves.tensors).subspan(parameter, placed.parameters),
                               std::span(leaves.buffers).subspan(buffer, placed.buffers)))
      leaves.bound[i] = std::move(kept);
    parameter += placed.parameters;
    buffer += placed.buffers;
  }
}

torch::Tensor LayeredNetwork::operator()(const Leaves& leaves, const torch::Tensor& input,
                                         const Evaluation& evaluation) const {
  torch::Tensor values = input;
  std::size_t parameter = 0, buffer = 0;
  std::vector<torch::Tensor> buffers = leaves.buffers;
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    const Placed& placed = placed_[i];
    const auto bound = leaves.bound.find(i);
    values = (*placed.layer)(
        values,
        {std::span(leaves.tensors).subspan(parameter, placed.parameters),
         std::span(buffers).subspan(buffer, placed.buffers), static_cast<std::uint32_t>(i),
         bound == leaves.bound.end() ? nullptr : bound->second.get()},
        evaluation);
    core::poll();
    if (core::is_polled() && values.requires_grad())  // and on the way back, before the layer's own
      values.register_hook([](const torch::Tensor&) { core::poll(); });
    parameter += placed.parameters;
    buffer += placed.buffers;
  }
  return values;
}

}  // namespace sagips::nn
