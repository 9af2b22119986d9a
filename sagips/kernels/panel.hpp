#pragma once
#include <cstddef>

namespace sagips::kernels {

/// Rows of a hidden layer that just left a product, and what a pass over them reads and writes.
struct Panel {
  std::size_t rows, width;
  float negative_slope;            ///< of LeakyReLU
  float* activations;              ///< [rows, width]
  float* delta = nullptr;          ///< d output / d sum, [rows, width]
  const float* factors = nullptr;  ///< d loss / d output, [rows]; null: no gradient is collected
  bool late = false;               ///< deltas are free of the factors
  float* bias_gradient = nullptr;  ///< of this layer, [width]; added to when there are factors
};

/// activations: sums -> LeakyReLU(sums + bias).
/// shape: bias [width]
void activate(const Panel& panel, const float* bias);

/// output_r = bias + sum_j values_rj weight_j.
/// shape: values [rows, width], weight [width] -> output [rows]
void weighted_sums(const float* values, const float* weight, float bias, float* output,
                   std::size_t rows, std::size_t width);

/// The first delta, below the network's output: weight_j LeakyReLU'(activation_rj), times the row's
/// factor unless late. Adds factor_r activation_rj to the gradient of the output's weights.
/// shape: weight, weight_gradient [width]
void start_delta(const Panel& panel, const float* weight, float* weight_gradient);

/// delta *= LeakyReLU'(activation). When late, activations are multiplied by their row's factor
/// afterwards: products of them with deltas give gradients then.
void through_activation(const Panel& panel);

}  // namespace sagips::kernels
