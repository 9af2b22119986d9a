#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/nn/layers/layer_config.hpp"
#include "sagips/nn/network.hpp"

namespace sagips::nn {

/// A network from rows of numbers to rows of numbers: fully connected with LeakyReLU between layers,
/// or the layers that the config lists. A dense layer without activation ends it.
///
/// source: SAGIPS paper, Sec. V (4 hidden layers of 128); slope and output of the authors' tool kit
struct MlpConfig {
  std::int64_t width = 128;                  ///< neurons of each hidden layer
  std::int64_t layers = 4;                   ///< hidden layers
  double negative_slope = 0.2;               ///< of LeakyReLU
  std::vector<LayerConfig> hidden_layers{};  ///< in place of those; empty: none are listed

  void fields(core::FieldList& list);
  /// Such networks meet the same rows several times a step and in tiles.
  /// key: of this config, for messages. throws: ConfigError for layers that do not fit each other, or
  /// that make of a row what other rows or random numbers say
  std::shared_ptr<const Network> network(std::int64_t inputs, std::int64_t outputs,
                                         const std::string& key = "network") const;
};

}  // namespace sagips::nn
