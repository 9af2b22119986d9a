#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include <torch/types.h>

#include "sagips/kernels/convolution.hpp"

namespace sagips::nn {

/// Convolutions by kernels of our own, differentiable, on as many threads as LibTorch has.
class DirectConvolution {
 public:
  /// negative_slope: of leaky ReLU behind the sums; 1: no function
  DirectConvolution(const kernels::ConvolutionShape& shape, double negative_slope)
      : shape_(shape), negative_slope_(negative_slope) {}

  /// Whether they beat LibTorch's: where few channels leave its blocks of channels empty, and planes are large
  /// enough to fill lanes. Small planes of two dimensions have better ways, by tiles.
  static bool pays(const kernels::ConvolutionShape& shape) {
    constexpr std::int64_t few_channels = 16;
    const std::int64_t large_plane = shape.kernel[0] > 1 ? 40 : 400;
    return std::min(shape.in_channels, shape.out_channels) <= few_channels &&
           shape.output(1) * shape.output(2) >= large_plane;
  }
  /// shape: input, which suits kernels, [rows, in_channels, ...], weight [out_channels, in_channels, ...], bias [out_channels] or
  /// undefined -> [rows, out_channels, ...], with as many dimensions as the input
  torch::Tensor operator()(const torch::Tensor& input, const torch::Tensor& weight,
                           const torch::Tensor& bias) const;

 private:
  kernels::ConvolutionShape shape_;
  double negative_slope_;
};

/// Convolutions of numbers that are each repeated along each dimension, which are not: the kernel meets few
/// distinct ones, so that sums of its weights are multiplied once for all the places that see the same. A
/// product on the numbers as they were.
class RepeatedConvolution {
 public:
  /// shape: of the input whose numbers are repeated, without zeros around; factor: how often
  RepeatedConvolution(const kernels::ConvolutionShape& shape,
                      const kernels::ConvolutionShape::Lengths& factor);

  /// shape: as DirectConvolution's, the input not repeated; nothing stands behind the sums but the bias
  torch::Tensor operator()(const torch::Tensor& input, const torch::Tensor& weight,
                           const torch::Tensor& bias) const;

 private:
  /// 1 where a tap meets a number of a dimension. shape: [factor, meets, kernel]
  torch::Tensor meetings(std::size_t dimension, const torch::TensorOptions& options) const;

  kernels::ConvolutionShape shape_;
  kernels::ConvolutionShape::Lengths factor_;
  kernels::ConvolutionShape::Lengths meets_{}, blocks_{};
};

}  // namespace sagips::nn
