#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sagips::nn {

/// One trainable tensor of a network.
struct ParameterTensor {
  std::string name;  ///< "layer0.weight"
  std::vector<std::int64_t> shape;
  std::int64_t fan_in = 0;  ///< inputs of the layer it belongs to
  bool is_bias = false;
  std::optional<double> constant{};  ///< what it begins at; else it is drawn

  std::int64_t size() const {
    std::int64_t product = 1;
    for (const auto length : shape) product *= length;
    return product;
  }
};

/// Numbers of a network that do not learn by gradients and yet change, such as running means.
struct BufferTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  double initial = 0;
};

}  // namespace sagips::nn
