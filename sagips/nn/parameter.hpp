#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <torch/types.h>

#include "sagips/core/random.hpp"

namespace sagips::nn {

/// One trainable tensor of a network.
struct ParameterTensor {
  std::string name;  ///< "layer0.weight"
  std::vector<std::int64_t> shape;
  std::int64_t fan_in = 0;  ///< inputs of the layer it belongs to
  bool is_bias = false;
  /// What it begins at, of such a shape; empty: whoever initialises the network draws it.
  std::function<torch::Tensor(const core::RandomStream& stream)> initial{};

  std::int64_t size() const {
    std::int64_t product = 1;
    for (const auto length : shape) product *= length;
    return product;
  }
};

struct NamedTensor {
  std::string name;
  torch::Tensor tensor;
};

/// Numbers of a network that do not learn by gradients and yet change, such as running means.
struct BufferTensor {
  std::string name;
  torch::Tensor initial;  ///< float32
};

}  // namespace sagips::nn
