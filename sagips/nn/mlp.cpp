#include "sagips/nn/mlp.hpp"

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::nn {

void MlpConfig::fields(core::FieldList& list) {
  list.add("width", width, "neurons of each hidden layer (SAGIPS paper: 128)",
           core::Range::between(1, 65536));
  list.add("layers", layers, "hidden layers (SAGIPS paper: 4)", core::Range::between(0, 1000));
  list.add("negative_slope", negative_slope,
           "slope of LeakyReLU below zero (authors' tool kit: 0.2)", core::Range::between(0, 1));
  list.list("hidden_layers", hidden_layers,
            "in place of width, layers and negative_slope, " + LayerConfig::help());
  core::needs(list, hidden_layers.empty(), "no hidden_layers",
              {"width", "layers", "negative_slope"});
}

std::shared_ptr<const Network> MlpConfig::network(std::int64_t inputs, std::int64_t outputs,
                                                  const std::string& key) const {
  const std::string place = key + ".hidden_layers";
  std::vector<LayerConfig> all = hidden_layers;
  if (all.empty())
    all.assign(static_cast<std::size_t>(layers),
               LayerConfig::dense(width, {"leaky_relu", negative_slope}));
  else if (LayeredNetwork(all, {inputs}, place).output().size() != 1)
    all.push_back(LayerConfig::of("flatten"));
  all.push_back(LayerConfig::dense(outputs, {}));
  auto network = std::make_shared<LayeredNetwork>(all, Shape{inputs}, place);
  if (!network->separable())
    throw core::ConfigError(place,
                            "has batch norm (a GAN's events go through the network in tiles, which "
                            "must not depend on each other). Leave it out.");
  if (network->is_random())
    throw core::ConfigError(place,
                            "has dropout (a GAN's networks meet the same events several times a "
                            "step, each with other numbers left out). Leave it out.");
  return network;
}

}  // namespace sagips::nn
