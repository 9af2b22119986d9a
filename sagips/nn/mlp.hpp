#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <torch/types.h>

#include "sagips/core/config/config.hpp"

namespace sagips::nn {

/// One trainable tensor of a network.
struct ParameterTensor {
  std::string name;  ///< "layer0.weight"
  std::vector<std::int64_t> shape;
  std::int64_t fan_in = 0;  ///< inputs of the layer it belongs to
  bool is_bias = false;
  std::optional<double> constant{};  ///< what it begins at; else it is drawn

  std::int64_t size() const;
};

/// Numbers of a network that do not learn by gradients and yet change, such as running means.
struct BufferTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  double initial = 0;
};

struct MlpConfig {
  std::int64_t width = 128;     ///< neurons of each hidden layer
  std::int64_t layers = 4;      ///< hidden layers
  double negative_slope = 0.2;  ///< of LeakyReLU

  void fields(core::FieldList& list);
};

/// Fully connected network with LeakyReLU between layers and no activation at its end.
///
/// It owns no weights: those are leaves of a Replica, so that several threads can use one network.
/// source: SAGIPS paper, Sec. V (4 hidden layers of 128); slope and output of the authors' tool kit
class Mlp {
 public:
  Mlp(std::int64_t inputs, std::int64_t outputs, const MlpConfig& config);

  /// Weight and bias of each layer, in order.
  const std::vector<ParameterTensor>& parameters() const { return parameters_; }
  std::int64_t inputs() const { return inputs_; }
  std::int64_t outputs() const { return outputs_; }
  const MlpConfig& config() const { return config_; }

  /// shape: input [rows, inputs] -> [rows, outputs], before any output activation ("logits")
  torch::Tensor operator()(std::span<const torch::Tensor> parameters, torch::Tensor input) const;

 private:
  std::int64_t inputs_, outputs_;
  MlpConfig config_;
  std::vector<ParameterTensor> parameters_;
};

}  // namespace sagips::nn
