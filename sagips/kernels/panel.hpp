#pragma once
#include <cstddef>

namespace sagips::kernels {

/// The function between layers. Its slope is a function of its value, so sums need not be kept.
struct PanelActivation {
  enum class Kind { leaky_relu, elu, selu, tanh, sigmoid };
  Kind kind = Kind::leaky_relu;
  float negative_slope = 0;  ///< of LeakyReLU; 0: ReLU, 1: nothing happens
};

/// Rows of a hidden layer that just left a product, and what a pass over them reads and writes.
struct Panel {
  std::size_t rows, width;
  PanelActivation activation;
  float* activations;              ///< [rows, width]
  float* delta = nullptr;          ///< d output / d sum, [rows, width]
  const float* factors = nullptr;  ///< d loss / d output, [rows]; null: no gradient is collected
  bool late = false;               ///< deltas are free of the factors
  float* bias_gradient = nullptr;  ///< of this layer, [width]; added to when there are factors
};

/// activations: sums -> activation(sums + bias), to 2e-7 of 1.
/// shape: bias [width]
void activate(const Panel& panel, const float* bias);

/// output_r = bias + sum_j values_rj weight_j.
/// shape: values [rows, width], weight [width] -> output [rows]
void weighted_sums(const float* values, const float* weight, float bias, float* output,
                   std::size_t rows, std::size_t width);

/// The first delta, below the network's output: weight_j times the activation's slope, times the row's
/// factor unless late. Adds factor_r activation_rj to the gradient of the output's weights.
/// shape: weight, weight_gradient [width]
void start_delta(const Panel& panel, const float* weight, float* weight_gradient);

/// delta *= the activation's slope. When late, activations are multiplied by their row's factor
/// afterwards: products of them with deltas give gradients then.
void through_activation(const Panel& panel);

}  // namespace sagips::kernels
