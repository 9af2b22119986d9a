#include "sagips/nn/mlp.hpp"

#include "sagips/core/text.hpp"

namespace sagips::nn {

std::int64_t ParameterTensor::size() const {
  std::int64_t product = 1;
  for (const auto length : shape) product *= length;
  return product;
}

void MlpConfig::fields(core::FieldList& list) {
  list.add("width", width, "neurons of each hidden layer (SAGIPS paper: 128)",
           core::Range::between(1, 65536));
  list.add("layers", layers, "hidden layers (SAGIPS paper: 4)", core::Range::between(0, 1000));
  list.add("negative_slope", negative_slope,
           "slope of LeakyReLU below zero (authors' tool kit: 0.2)", core::Range::between(0, 1));
}

Mlp::Mlp(std::int64_t inputs, std::int64_t outputs, const MlpConfig& config)
    : inputs_(inputs), outputs_(outputs), config_(config) {
  std::int64_t from = inputs;
  for (std::int64_t layer = 0; layer <= config.layers; ++layer) {
    const std::int64_t to = layer < config.layers ? config.width : outputs;
    const std::string name = core::text("layer", layer);
    parameters_.push_back({name + ".weight", {to, from}, from, false});
    parameters_.push_back({name + ".bias", {to}, from, true});
    from = to;
  }
}

torch::Tensor Mlp::operator()(std::span<const torch::Tensor> parameters,
                              torch::Tensor input) const {
  for (std::size_t i = 0; i + 1 < parameters.size(); i += 2) {
    input = torch::linear(input, parameters[i], parameters[i + 1]);
    if (i + 2 < parameters.size()) input = torch::leaky_relu(input, config_.negative_slope);
  }
  return input;
}

}  // namespace sagips::nn
