#include "sagips/nn/tiled_convolution.hpp"

#include <algorithm>
#include <functional>

#include <ATen/Parallel.h>
#include <torch/autograd.h>
#include <torch/torch.h>

#include "sagips/kernels/aligned.hpp"
#include "sagips/kernels/products.hpp"
#include "sagips/nn/kernel_function.hpp"

namespace sagips::nn {

namespace {

using kernels::ImageConvolutionShape;
using kernels::ImageTiles;

// Images whose tiles are multiplied together: as many as give a product its rate, few enough for a cache.
std::int64_t images_at_once(const ImageTiles& tiles, std::int64_t images) {
  constexpr std::int64_t rows = 64;
  return std::clamp<std::int64_t>(rows / tiles.tiles(), 1, images);
}

/// Groups of images that threads share.
struct Groups {
  Groups(const ImageTiles& tiles, std::int64_t of_all)
      : images(of_all), at_once(images_at_once(tiles, of_all)) {}
  void each(const std::function<void(std::int64_t first, std::int64_t count)>& work) const {
    share_pieces((images + at_once - 1) / at_once, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t group = begin; group < end; ++group)
        work(group * at_once, std::min(at_once, images - group * at_once));
    });
  }
  std::int64_t images, at_once;
};

const kernels::Products& products() {
  static const auto best = kernels::products(kernels::available_products().front());
  return *best;
}

torch::Tensor taps_at_points(const ImageTiles& tiles) {
  return torch::tensor(tiles.taps_at_points()).view({tiles.points(), -1});
}

// shape: input [images, in_channels, rows, columns], channels last -> the same of the output
torch::Tensor convolve(const ImageConvolutionShape& shape, const torch::Tensor& input,
                       const torch::Tensor& weights_at_points, const float* bias,
                       float negative_slope) {
  const ImageTiles tiles(shape);
  const Groups groups(tiles, input.size(0));
  auto output =
      torch::empty({groups.images, shape.out_channels, shape.output_rows(), shape.output_columns()},
                   input.options().memory_format(at::MemoryFormat::ChannelsLast));
  const float *const from = input.const_data_ptr<float>(), *const weights =
                                                               weights_at_points
                                                                   .const_data_ptr<float>();
  float* const to = output.mutable_data_ptr<float>();
  const std::int64_t pairs = shape.in_channels * shape.out_channels;
  groups.each([&](std::int64_t first, std::int64_t count) {
    const std::int64_t rows = count * tiles.tiles(), far_in = rows * shape.in_channels,
                       far_out = rows * shape.out_channels;
    float *const numbers = kernels::scratch(0, tiles.points() * far_in), *const sums =
                                                                             kernels::scratch(
                                                                                 1, tiles.points() *
                                                                                        far_out);
    for (std::int64_t i = 0; i < count; ++i)
      tiles.spread_input(from + (first + i) * shape.input_numbers(),
                         {numbers + i * tiles.tiles() * shape.in_channels, far_in});
    const auto multiply = products().multiply(rows, shape.in_channels, shape.out_channels);
    for (std::int64_t p = 0; p < tiles.points(); ++p)
      multiply(numbers + p * far_in, weights + p * pairs, sums + p * far_out);
    for (std::int64_t i = 0; i < count; ++i)
      tiles.finish(sums + i * tiles.tiles() * shape.out_channels, far_out, bias, negative_slope,
                   to + (first + i) * shape.output_numbers());
  });
  return output;
}

torch::Tensor weight_gradient(const ImageConvolutionShape& shape, const torch::Tensor& input,
                              const torch::Tensor& output_gradient) {
  const ImageTiles tiles(shape);
  const Groups groups(tiles, input.size(0));
  const std::int64_t pairs = shape.in_channels * shape.out_channels;
  const torch::Tensor of_threads = torch::zeros({at::get_num_threads(), tiles.points(), pairs});
  float* const sums_of_threads = of_threads.mutable_data_ptr<float>();
  const float *const from = input.const_data_ptr<float>(), *const gradient =
                                                               output_gradient
                                                                   .const_data_ptr<float>();
  groups.each([&](std::int64_t first, std::int64_t count) {
    const std::int64_t rows = count * tiles.tiles(), far_in = rows * shape.in_channels,
                       far_out = rows * shape.out_channels;
    float *const numbers = kernels::scratch(0, tiles.points() * far_in), *const gradients =
                                                                             kernels::scratch(
                                                                                 1, tiles.points() *
                                                                                        far_out);
    for (std::int64_t i = 0; i < count; ++i) {
      tiles.spread_input(from + (first + i) * shape.input_numbers(),
                         {numbers + i * tiles.tiles() * shape.in_channels, far_in});
      tiles.spread_gradient(gradient + (first + i) * shape.output_numbers(),
                            {gradients + i * tiles.tiles() * shape.out_channels, far_out});
    }
    const auto accumulate = products().accumulate(rows, shape.in_channels, shape.out_channels);
    float* const own = sums_of_threads + at::get_thread_num() * tiles.points() * pairs;
    for (std::int64_t p = 0; p < tiles.points(); ++p)
      accumulate(numbers + p * far_in, gradients + p * far_out, own + p * pairs);
  });
  const torch::Tensor sums = of_threads.sum(0);
  return torch::mm(taps_at_points(tiles).t(), sums)
      .view({shape.kernel, shape.kernel, shape.in_channels, shape.out_channels})
      .permute({3, 2, 0, 1});
}

// shape: weight [out_channels, in_channels, kernel, kernel] -> [points, in_channels, out_channels]
torch::Tensor at_points(const ImageConvolutionShape& shape, const torch::Tensor& weight) {
  return torch::mm(taps_at_points(ImageTiles(shape)),
                   weight.permute({2, 3, 1, 0}).reshape({shape.kernel * shape.kernel, -1}))
      .view({-1, shape.in_channels, shape.out_channels});
}

struct Tiled : torch::autograd::Function<Tiled> {
  /// bias: without numbers where there is none
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, const torch::Tensor& weight,
                               const torch::Tensor& bias, const ImageConvolutionShape& shape,
                               double negative_slope) {
    const torch::Tensor images = input.contiguous(at::MemoryFormat::ChannelsLast),
                        flat = weight.contiguous(), added = bias.contiguous();
    torch::Tensor output = convolve(shape, images, at_points(shape, flat),
                                    added.numel() > 0 ? added.const_data_ptr<float>() : nullptr,
                                    static_cast<float>(negative_slope));
    context->save_for_backward({images, flat, output});
    context->saved_data["bias"] = added.numel() > 0;
    context->saved_data["slope"] = negative_slope;
    context->saved_data["zeros"] =
        std::vector<std::int64_t>{shape.above, shape.below, shape.left, shape.right};
    return output;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    refuse_second_derivatives("a tiled convolution");
    const auto saved = context->get_saved_variables();
    const torch::Tensor &input = saved[0], &weight = saved[1], &output = saved[2];
    const double slope = context->saved_data["slope"].toDouble();
    const std::vector<std::int64_t> zeros = context->saved_data["zeros"].toIntVector();
    const ImageConvolutionShape shape{input.size(1), weight.size(0), input.size(2),
                                      input.size(3), weight.size(2), zeros[0],
                                      zeros[1],      zeros[2],       zeros[3]};
    torch::Tensor gradient = gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    if (slope != 1) gradient = torch::leaky_relu_backward(gradient, output, slope, true);
    torch::Tensor of_input, of_weight, of_bias;
    if (context->needs_input_grad(0)) {
      const ImageConvolutionShape turned = shape.turned();
      of_input = convolve(turned, gradient, at_points(turned, weight.transpose(0, 1).flip({2, 3})),
                          nullptr, 1);
    }
    if (context->needs_input_grad(1)) of_weight = weight_gradient(shape, input, gradient);
    if (context->saved_data["bias"].toBool()) of_bias = gradient.sum({0, 2, 3});
    return {of_input, of_weight, of_bias, {}, {}};
  }
};

}  // namespace

torch::Tensor TiledConvolution::operator()(const torch::Tensor& input, const torch::Tensor& weight,
                                           const torch::Tensor& bias) const {
  return Tiled::apply(input, weight, bias.defined() ? bias : torch::empty({0}), shape_,
                      negative_slope_);
}

}  // namespace sagips::nn
