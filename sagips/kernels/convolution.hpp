#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/kernels/aligned.hpp"

namespace sagips::kernels {

/// A convolution of images with three dimensions, step by step of one place. Fewer dimensions have 1 in
/// front.
struct ConvolutionShape {
  using Lengths = std::array<std::int64_t, 3>;
  std::int64_t in_channels = 1, out_channels = 1;
  Lengths input{1, 1, 1}, kernel{1, 1, 1};
  Lengths before{}, behind{};  ///< zeros around the input, each fewer than the kernel is wide

  std::int64_t output(std::size_t i) const {
    return input[i] + before[i] + behind[i] - kernel[i] + 1;
  }
  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  std::int64_t input_numbers() const { return in_channels * input[0] * input[1] * input[2]; }
  std::int64_t output_numbers() const { return out_channels * output(0) * output(1) * output(2); }
  std::int64_t weights() const { return out_channels * in_channels * taps(); }
  /// That of the input's gradient: the kernel turned around, over the gradient of the output.
  ConvolutionShape below() const;
};

/// Planes x of an image, those that one thread works on.
struct PlaneRange {
  std::int64_t first = 0, count = 0;
};

struct ConvolutionInstructions;
/// The sets of instructions that convolutions can use on this processor, the widest first.
std::vector<std::string> convolution_instructions();

/// Such a convolution, directly: for layers of few channels, of which libraries use a part of the processor
/// only. Lanes are neighbours in a plane (y, z), output channels the sums that stay in registers.
///
/// Memory of images: [channels, x, y, z]. Each call works on some planes of one image, so that threads share
/// images and planes; it packs those that it needs.
class Convolution {
 public:
  /// instructions: one of `convolution_instructions`; empty: the widest. throws: core::Error for others
  explicit Convolution(const ConvolutionShape& shape, const std::string& instructions = {});

  const ConvolutionShape& shape() const { return shape_; }

  /// Weights as `forward` reads them. weights: [out_channels, in_channels, kernel]
  AlignedFloats pack(const float* weights) const;
  /// The same of the convolution whose shape is `below`, from the weights of the one above it.
  AlignedFloats pack_turned(const float* weights) const;

  /// What stands behind the sums: bias [out_channels] or none, and leaky ReLU; 1: no function.
  struct Behind {
    const float* bias = nullptr;
    float negative_slope = 1;
  };
  /// Planes of the output of one image. packed: as `pack` makes them
  void forward(const float* input, const float* packed, const Behind& behind, float* output,
               PlaneRange planes) const;

 private:
  friend class WeightGradients;
  ConvolutionShape shape_;
  const ConvolutionInstructions* set_;
};

/// Gradients of such a convolution's weights, added up over images by one thread.
class WeightGradients {
 public:
  explicit WeightGradients(const Convolution& convolution);

  /// What planes of the output of one image give.
  void add(const float* input, const float* output_gradient, PlaneRange planes);
  /// Adds the sums to weights [out_channels, in_channels, kernel] and biases [out_channels].
  void give(float* weights, float* biases) const;

 private:
  ConvolutionShape shape_;
  const ConvolutionInstructions* set_;
  AlignedFloats sums_;  ///< as products leave them
  std::vector<float> biases_;
};

}  // namespace sagips::kernels
