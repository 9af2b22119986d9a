#include "sagips/nn/direct_convolution.hpp"

#include <algorithm>

#include <ATen/Parallel.h>
#include <torch/autograd.h>
#include <torch/torch.h>

#include "sagips/nn/kernel_function.hpp"

namespace sagips::nn {

namespace {

using kernels::ConvolutionShape;
using kernels::PlaneRange;

/// What threads share: images, or ranges of planes of them where there are fewer images than threads.
class Pieces {
 public:
  Pieces(std::int64_t images, std::int64_t planes)
      : images_(images),
        planes_(planes),
        parts_(std::clamp<std::int64_t>((at::get_num_threads() + images - 1) / images, 1, planes)) {
  }
  std::int64_t count() const { return images_ * parts_; }
  std::int64_t image(std::int64_t piece) const { return piece / parts_; }
  PlaneRange planes(std::int64_t piece) const {
    const std::int64_t part = piece % parts_, first = planes_ * part / parts_;
    return {first, planes_ * (part + 1) / parts_ - first};
  }

 private:
  std::int64_t images_, planes_, parts_;
};

torch::Tensor forward(const ConvolutionShape& shape, const torch::Tensor& input,
                      const kernels::AlignedFloats& packed,
                      const kernels::Convolution::Behind& behind) {
  const kernels::Convolution convolution(shape);
  auto output = torch::empty(
      {input.size(0), shape.out_channels, shape.output(0), shape.output(1), shape.output(2)},
      input.options());
  const float* const from = input.const_data_ptr<float>();
  float* const to = output.mutable_data_ptr<float>();
  const Pieces pieces(input.size(0), shape.output(0));
  share_pieces(pieces.count(), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t piece = first; piece < last; ++piece) {
      const std::int64_t image = pieces.image(piece);
      convolution.forward(from + image * shape.input_numbers(), packed.data(), behind,
                          to + image * shape.output_numbers(), pieces.planes(piece));
    }
  });
  return output;
}

struct Learned {
  torch::Tensor weight, bias;
};
// Threads have sums of their own, which are added in their order.
Learned weight_gradients(const ConvolutionShape& shape, const torch::Tensor& input,
                         const torch::Tensor& output_gradient) {
  const std::int64_t threads = at::get_num_threads();
  const Learned sums{torch::zeros({threads, shape.weights()}, input.options()),
                     torch::zeros({threads, shape.out_channels}, input.options())};
  const float *const from = input.const_data_ptr<float>(), *const gradient =
                                                               output_gradient
                                                                   .const_data_ptr<float>();
  float *const weight = sums.weight.mutable_data_ptr<float>(), *const bias =
                                                                   sums.bias
                                                                       .mutable_data_ptr<float>();
  const kernels::Convolution convolution(shape);
  const Pieces pieces(input.size(0), shape.output(0));
  share_pieces(pieces.count(), 1, [&](std::int64_t first, std::int64_t last) {
    kernels::WeightGradients own(convolution);
    for (std::int64_t piece = first; piece < last; ++piece) {
      const std::int64_t image = pieces.image(piece);
      own.add(from + image * shape.input_numbers(), gradient + image * shape.output_numbers(),
              pieces.planes(piece));
    }
    const std::int64_t thread = at::get_thread_num();
    own.give(weight + thread * shape.weights(), bias + thread * shape.out_channels);
  });
  return {sums.weight.sum(0), sums.bias.sum(0)};
}

struct Direct : torch::autograd::Function<Direct> {
  /// bias: without numbers where there is none
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, const torch::Tensor& weight,
                               const torch::Tensor& bias, const ConvolutionShape& shape,
                               double negative_slope) {
    const torch::Tensor rows = input.contiguous(), flat = weight.contiguous(),
                        added = bias.contiguous();
    const auto packed = kernels::Convolution(shape).pack(flat.const_data_ptr<float>());
    torch::Tensor output = nn::forward(shape, rows, packed,
                                       {added.numel() > 0 ? added.const_data_ptr<float>() : nullptr,
                                        static_cast<float>(negative_slope)});
    context->save_for_backward({weight.requires_grad() ? rows : torch::Tensor(), flat,
                                negative_slope != 1 ? output : torch::Tensor()});
    context->saved_data["bias"] = bias.numel() > 0;
    context->saved_data["slope"] = negative_slope;
    context->saved_data["shape"] = lengths_of(shape);
    return output;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor &input = saved[0], &weight = saved[1], &output = saved[2];
    const double slope = context->saved_data["slope"].toDouble();
    const ConvolutionShape shape = shape_of(context->saved_data["shape"].toIntVector());
    refuse_second_derivatives("a direct convolution");
    const bool in_place = is_owned_alone(gradients[0]);
    torch::Tensor gradient = gradients[0].contiguous();
    if (slope != 1) {
      torch::Tensor into = in_place ? gradient : torch::empty_like(gradient);
      gradient = torch::leaky_relu_backward_out(into, gradient, output, slope, true);
    }
    torch::Tensor of_input;
    if (context->needs_input_grad(0)) {
      const ConvolutionShape below = shape.below();
      const auto packed = kernels::Convolution(below).pack_turned(weight.const_data_ptr<float>());
      of_input = nn::forward(below, gradient, packed, {});
    }
    Learned learned;
    if (context->needs_input_grad(1)) learned = weight_gradients(shape, input, gradient);
    return {of_input,
            learned.weight.defined() ? learned.weight.view_as(weight) : torch::Tensor(),
            context->saved_data["bias"].toBool() ? learned.bias : torch::Tensor(),
            {},
            {}};
  }
  static std::vector<std::int64_t> lengths_of(const ConvolutionShape& shape) {
    std::vector<std::int64_t> all{shape.in_channels, shape.out_channels};
    for (const auto* lengths : {&shape.input, &shape.kernel, &shape.before, &shape.behind})
      all.insert(all.end(), lengths->begin(), lengths->end());
    return all;
  }
  static ConvolutionShape shape_of(const std::vector<std::int64_t>& all) {
    ConvolutionShape shape{all[0], all[1]};
    auto from = all.begin() + 2;
    for (auto* lengths : {&shape.input, &shape.kernel, &shape.before, &shape.behind})
      for (std::int64_t& length : *lengths) length = *from++;
    return shape;
  }
};

// shape: [rows, channels, ...] -> [rows, channels, x, y, z]
torch::Tensor with_three_dimensions(torch::Tensor rows) {
  while (rows.dim() < 5) rows = rows.unsqueeze(2);
  return rows;
}

torch::Tensor with_dimensions(torch::Tensor rows, std::int64_t dimensions) {
  while (rows.dim() > dimensions) rows = rows.squeeze(2);
  return rows;
}

}  // namespace

torch::Tensor DirectConvolution::operator()(const torch::Tensor& input, const torch::Tensor& weight,
                                            const torch::Tensor& bias) const {
  return with_dimensions(
      Direct::apply(with_three_dimensions(input), with_three_dimensions(weight),
                    bias.defined() ? bias : torch::empty({0}), shape_, negative_slope_),
      input.dim());
}

RepeatedConvolution::RepeatedConvolution(const ConvolutionShape& shape,
                                         const ConvolutionShape::Lengths& factor)
    : shape_(shape), factor_(factor) {
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t kernel = shape.kernel[i];
    meets_[i] = (factor[i] - 1 + kernel - 1) / factor[i] + 1;
    blocks_[i] = (shape.output(i) + factor[i] - 1) / factor[i];
  }
}

// Made where it is used: a GPU would wait for a copy, and none can be part of a graph.
torch::Tensor RepeatedConvolution::meetings(std::size_t i,
                                            const torch::TensorOptions& options) const {
  const auto numbers = [&](std::int64_t count) {
    return torch::arange(count, options.dtype(torch::kInt64));
  };
  const torch::Tensor met =
      (numbers(factor_[i]).unsqueeze(1) + numbers(shape_.kernel[i])).div(factor_[i], "floor");
  return met.unsqueeze(1).eq(numbers(meets_[i]).unsqueeze(1)).to(options.dtype());
}

torch::Tensor RepeatedConvolution::operator()(const torch::Tensor& input,
                                              const torch::Tensor& weight,
                                              const torch::Tensor& bias) const {
  const std::int64_t rows = input.size(0), outputs = shape_.out_channels,
                     inputs = shape_.in_channels;
  torch::Tensor patches = with_three_dimensions(input);
  std::vector<std::int64_t> behind;  // the last dimension first
  for (std::size_t i = 3; i-- > 0;) {
    const std::int64_t length = patches.size(static_cast<std::int64_t>(i) + 2);
    behind.insert(behind.end(),
                  {0, std::max<std::int64_t>(0, blocks_[i] + meets_[i] - 1 - length)});
  }
  patches = torch::constant_pad_nd(patches, behind);
  for (std::int64_t i = 0; i < 3; ++i)
    patches = patches.unfold(i + 2, meets_[static_cast<std::size_t>(i)], 1)
                  .narrow(i + 2, 0, blocks_[static_cast<std::size_t>(i)]);
  // [rows, inputs, blocks ..., meets ...] -> [rows and blocks, inputs and meets]
  patches = patches.permute({0, 2, 3, 4, 1, 5, 6, 7})
                .reshape({rows * blocks_[0] * blocks_[1] * blocks_[2],
                          inputs * meets_[0] * meets_[1] * meets_[2]});
  // each place of a block of the output is a row of its own: sums of the taps that meet the same number
  const torch::Tensor taps =
      torch::einsum("oiabc,xua,yvb,zwc->xyzoiuvw",
                    {with_three_dimensions(weight), meetings(0, weight.options()),
                     meetings(1, weight.options()), meetings(2, weight.options())})
          .reshape({-1, patches.size(1)});
  const std::int64_t places = factor_[0] * factor_[1] * factor_[2];
  torch::Tensor output = bias.defined() ? torch::addmm(bias.repeat(places), patches, taps.t())
                                        : torch::mm(patches, taps.t());
  output = output
               .view({rows, blocks_[0], blocks_[1], blocks_[2], factor_[0], factor_[1], factor_[2],
                      outputs})
               .permute({0, 7, 1, 4, 2, 5, 3, 6})
               .reshape({rows, outputs, blocks_[0] * factor_[0], blocks_[1] * factor_[1],
                         blocks_[2] * factor_[2]});
  for (std::int64_t i = 0; i < 3; ++i)
    output = output.narrow(i + 2, 0, shape_.output(static_cast<std::size_t>(i)));
  return with_dimensions(output, input.dim());
}

}  // namespace sagips::nn
