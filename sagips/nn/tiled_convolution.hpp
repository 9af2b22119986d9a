#pragma once
#include <torch/types.h>

#include "sagips/kernels/image_tiles.hpp"

namespace sagips::nn {

/// Convolutions of images with many channels by tiles, differentiable, on as many threads as LibTorch has.
/// Images come and go with their channels last in memory.
class TiledConvolution {
 public:
  /// negative_slope: of leaky ReLU behind the sums; 1: no function
  TiledConvolution(const kernels::ImageConvolutionShape& shape, double negative_slope)
      : shape_(shape), negative_slope_(negative_slope) {}

  /// shape: input [images, in_channels, rows, columns], weight [out_channels, in_channels, kernel, kernel], bias
  /// [out_channels] or undefined, all float32 -> [images, out_channels, ...]
  torch::Tensor operator()(const torch::Tensor& input, const torch::Tensor& weight,
                           const torch::Tensor& bias) const;

 private:
  kernels::ImageConvolutionShape shape_;
  double negative_slope_;
};

}  // namespace sagips::nn
