#pragma once
#include <torch/types.h>

#include "sagips/kernels/convolution.hpp"
#include "sagips/kernels/pair_passes.hpp"

namespace sagips::nn {

// Layers by our own passes on a GPU (sagips/cuda), differentiable once.

/// Whether they take messages between these particles: one leaky ReLU, ELU or SELU behind each of up to three layers.
bool suits_gpu(const kernels::PairShape& shape, const torch::Tensor& halves);
/// shape: as `pair_messages` has it
torch::Tensor gpu_pair_messages(const kernels::PairShape& shape, const torch::Tensor& halves,
                                const torch::Tensor& present, const torch::Tensor& weights);

/// Whether they take a convolution of 3D images: few channels, and a precision that rounds factors to tf32.
bool suits_gpu(const kernels::ConvolutionShape& shape, const torch::Tensor& input);
/// negative_slope: as DirectConvolution's. What comes out has its channels last in memory.
torch::Tensor gpu_convolution(const kernels::ConvolutionShape& shape, double negative_slope,
                              const torch::Tensor& input, const torch::Tensor& weight,
                              const torch::Tensor& bias);

}  // namespace sagips::nn
