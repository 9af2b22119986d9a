#include "sagips/nn/layers/layer_config.hpp"

#include <algorithm>

#include "sagips/core/error.hpp"
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
    for (const auto& more : {image_layers(), recurrent_layers(), composite_layers(), pair_layers(),
                             module_layers(), script_layers()})
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

LayerConfig LayerConfig::heads(std::vector<Branch> branches, const std::string& key) {
  return {"heads", heads_layer(std::move(branches), key)};
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
                               const std::string& place, const core::RowTensors& tensors) {
  if (layers.empty()) throw ConfigError(place, "is empty. Name at least one layer.");
  input_ = input;
  input_tensors_ = tensors;
  LayerPlace whole{.name = {}};
  chain_ = Chain(layers, input, tensors, {}, place, whole);
  layers_ = chain_.layers();
  if (layers_.empty()) throw ConfigError(place, "leaves all its layers out. Repeat one of them.");
  output_ = chain_.output();
  output_tensors_ = chain_.output_tensors();
  parameters_ = std::move(whole.parameters);
  buffers_ = std::move(whole.buffers);
  separable_ = whole.separable;
  keeps_to_own_rows_ = whole.keeps_to_own_rows;
  is_random_ = whole.is_random;
  skips_empty_ = whole.skips_empty;
  fusable_ = chain_.dense_chain();
}

torch::Tensor LayeredNetwork::operator()(const Leaves& leaves, const torch::Tensor& input,
                                         const Evaluation& evaluation) const {
  std::vector<torch::Tensor> buffers = leaves.buffers;
  // layers inside may leave channels last in memory
  return chain_(input, leaves.tensors, buffers, leaves.bound, evaluation).contiguous();
}

}  // namespace sagips::nn
