#pragma once
#include "sagips/nn/layers/layer.hpp"

namespace sagips::nn {

/// What torch::batch_norm makes in training of the rows of all ranks together, of this rank's.
///
/// Gradients are those of the sum of all ranks' losses. One call of `add_up` with 2 * channels + 1 numbers, and
/// one on the way back. tensors: weight and bias, running mean and variance
/// source: Ioffe and Szegedy, ICML 2015; over ranks as in PyTorch's SyncBatchNorm
/// shape: [rows, channels, ...] -> the same
torch::Tensor batch_norm_over_ranks(const torch::Tensor& input, const LayerTensors& tensors,
                                    double momentum, double epsilon, const AddUp& add_up);

}  // namespace sagips::nn
