#include "sagips/nn/layers/chain.hpp"

#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/exception_watch.hpp"
#include "sagips/core/poll.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/layers/layer_config.hpp"

namespace sagips::nn {

using core::ConfigError;
using core::text;

namespace {

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

Chain::Chain(const std::vector<LayerConfig>& layers, const Shape& input,
             const core::RowTensors& tensors, const std::string& prefix, const std::string& key,
             LayerPlace& around)
    : input_(input), output_(input), output_tensors_(tensors) {
  for (std::size_t i = 0; i < layers.size(); ++i)
    for (std::int64_t j = 0; j < layers[i].repeat(); ++j)
      add(layers[i], text(prefix, "layer", placed_.size()), text(key, ".", i), around);
}

void Chain::add(const LayerConfig& config, const std::string& name, const std::string& key,
                LayerPlace& around) {
  LayerPlace own{.name = name,
                 .key = key,
                 .number = around.next_number,
                 .next_number = around.next_number + 1,
                 .input_tensors = std::exchange(output_tensors_, {})};
  const std::shared_ptr<Layer> layer = config.layer();
  try {
    output_ = layer->declare(output_, own);
  } catch (const ConfigError&) {
    throw;  // a layer inside it has told its place
  } catch (const core::Error& error) {
    core::pass_on_raised();
    throw ConfigError(
        text(key, " (", config.kind(), ")"),
        text(error.what(), " Its input is ",
             own.input_tensors.empty() ? written(output_) : own.input_tensors.written(), "."));
  }
  std::int64_t weights = 0;
  for (const ParameterTensor& parameter : own.parameters) weights += parameter.size();
  layers_.push_back(
      {text(name, " ", config.kind()), output_, weights, own.operations, own.script, own.inside});
  if (!placed_.empty() && !placed_.back().only_repeats.empty() &&
      layer->repeats(placed_.back().only_repeats))
    placed_.back().layer = nullptr;  // what follows does its work
  placed_.push_back({layer, own.parameters.size(), own.buffers.size(), own.number,
                     own.only_flattens, own.only_repeats, own.connects});
  parameters_ += own.parameters.size();
  buffers_ += own.buffers.size();
  output_tensors_ = own.output_tensors;
  append(around.parameters, own.parameters);
  append(around.buffers, own.buffers);
  around.operations += own.operations;
  around.separable = around.separable && own.separable;
  around.keeps_to_own_rows = around.keeps_to_own_rows || own.keeps_to_own_rows;
  around.is_random = around.is_random || own.is_random;
  around.skips_empty = around.skips_empty || own.skips_empty;
  around.next_number = own.next_number;
}

std::optional<kernels::MlpShape> Chain::dense_chain() const {
  kernels::MlpShape chain;
  const Activation* between = nullptr;
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    const bool is_last = i + 1 == placed_.size();
    if (i == 0) chain.widths.push_back(numbers_in(input_));
    if (i == 0 && placed_[i].only_flattens) continue;
    const Activation* activation = placed_[i].connects;
    if (!activation) return {};
    if (is_last ? activation->name != "none" : between && between->name != activation->name)
      return {};
    if (!is_last) between = activation;
    chain.widths.push_back(layers_[i].output[0]);
  }
  if (!between || !between->fusable()) return {};
  chain.activation = *between->fusable();
  return chain;
}

std::vector<const Activation*> Chain::dense_activations() const {
  std::vector<const Activation*> all;
  for (const Placed& placed : placed_) {
    if (!placed.connects) return {};
    all.push_back(placed.connects);
  }
  return all;
}

Chain::Bound Chain::bind(std::span<torch::Tensor> weights, std::span<torch::Tensor> buffers) const {
  Bound bound;
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    const Placed& placed = placed_[i];
    if (!placed.layer) continue;
    if (auto kept =
            placed.layer->bind(weights.first(placed.parameters), buffers.first(placed.buffers)))
      bound[i] = std::move(kept);
    weights = weights.subspan(placed.parameters);
    buffers = buffers.subspan(placed.buffers);
  }
  return bound;
}

torch::Tensor Chain::operator()(torch::Tensor values, std::span<const torch::Tensor> weights,
                                std::span<torch::Tensor> buffers, const Bound& bound,
                                const Evaluation& evaluation) const {
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    const Placed& placed = placed_[i];
    if (!placed.layer) continue;
    const auto kept = bound.find(i);
    values = (*placed.layer)(values,
                             {weights.first(placed.parameters), buffers.first(placed.buffers),
                              placed.number, kept == bound.end() ? nullptr : kept->second.get()},
                             evaluation);
    core::poll();
    if (core::is_polled() && values.requires_grad())  // and on the way back, before the layer's own
      values.register_hook([](const torch::Tensor&) { core::poll(); });
    weights = weights.subspan(placed.parameters);
    buffers = buffers.subspan(placed.buffers);
  }
  return values;
}

}  // namespace sagips::nn
