#include "sagips/nn/device_layers.hpp"

#include <torch/autograd.h>
#include <torch/custom_class.h>

#include <algorithm>

#include "sagips/nn/device.hpp"
#include "sagips/nn/device_library.hpp"
#include "sagips/nn/kernel_function.hpp"

namespace sagips::nn {

namespace {

using torch::autograd::variable_list;
using Kind = kernels::PanelActivation::Kind;

/// What a way back needs beside tensors.
template <class Shape>
struct KeptShape : torch::CustomClassHolder {
  explicit KeptShape(const Shape& of) : shape(of) {}
  Shape shape;
};
template <class Shape>
void keep(torch::autograd::AutogradContext* context, const Shape& shape) {
  context->saved_data["shape"] =
      c10::IValue::make_capsule(c10::make_intrusive<KeptShape<Shape>>(shape));
}
template <class Shape>
Shape kept(torch::autograd::AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<KeptShape<Shape>>(
             context->saved_data["shape"].toCapsule())
      ->shape;
}

bool has_passes(const torch::Tensor& numbers) {
  return numbers.scalar_type() == torch::kFloat32 && numbers.numel() > 0 &&
         device_library(numbers.device()) != nullptr;
}

// ---- pairs

int pair_precision() {
  return precision() == Precision::float32 ? SAGIPS_CUDA_FLOAT32 : SAGIPS_CUDA_TF32;
}

sagips_cuda_pairs gpu_shape(const kernels::PairShape& shape, std::int64_t events) {
  sagips_cuda_pairs pairs{};
  pairs.events = events;
  pairs.particles = static_cast<std::int32_t>(shape.particles);
  pairs.layers = static_cast<std::int32_t>(shape.widths.size());
  std::transform(shape.widths.begin(), shape.widths.end(), pairs.widths,
                 [](std::int64_t width) { return static_cast<std::int32_t>(width); });
  const kernels::PanelActivation& activation = shape.activations.front();
  pairs.activation = activation.kind == Kind::elu    ? SAGIPS_CUDA_ELU
                     : activation.kind == Kind::selu ? SAGIPS_CUDA_SELU
                                                     : SAGIPS_CUDA_LEAKY_RELU;
  pairs.slope = activation.kind == Kind::leaky_relu ? activation.negative_slope : 1;
  return pairs;
}

struct Messages : torch::autograd::Function<Messages> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& given, const torch::Tensor& weights,
                               const torch::Tensor& present, const sagips_cuda_pairs& shape) {
    const torch::Tensor halves = given.contiguous(), flat = weights.contiguous();
    torch::Tensor messages = torch::empty(
        {halves.size(0), halves.size(1), shape.widths[shape.layers - 1]}, halves.options());
    on_device(halves.device(), &DeviceLibrary::pairs_forward, shape, pair_precision(),
              halves.data_ptr<float>(), bytes_of(present), flat.data_ptr<float>(),
              messages.data_ptr<float>());
    context->save_for_backward({halves, flat, present});
    keep(context, shape);
    return messages;
  }
  static variable_list backward(torch::autograd::AutogradContext* context,
                                const variable_list& gradients) {
    refuse_second_derivatives("messages between particles");
    const auto saved = context->get_saved_variables();
    const torch::Tensor &halves = saved[0], &flat = saved[1], slopes = gradients[0].contiguous();
    const auto shape = kept<sagips_cuda_pairs>(context);
    torch::Tensor of_halves = torch::empty_like(halves), of_weights = torch::zeros_like(flat);
    const torch::Tensor work =
        bytes_on(halves.device(),
                 device_library(halves.device())->pairs_work_bytes(shape, pair_precision()));
    on_device(halves.device(), &DeviceLibrary::pairs_backward, shape, pair_precision(),
              halves.data_ptr<float>(), bytes_of(saved[2]), flat.data_ptr<float>(),
              slopes.data_ptr<float>(), of_halves.data_ptr<float>(), of_weights.data_ptr<float>(),
              work.data_ptr());
    return {of_halves, of_weights, torch::Tensor(), torch::Tensor()};
  }
  static const std::uint8_t* bytes_of(const torch::Tensor& present) {
    return present.numel() > 0 ? present.const_data_ptr<std::uint8_t>() : nullptr;
  }
};

// ---- convolutions

sagips_cuda_conv3d gpu_shape(const kernels::ConvolutionShape& shape, std::int64_t samples,
                             double negative_slope) {
  sagips_cuda_conv3d image{};
  image.samples = samples;
  image.inputs = static_cast<std::int32_t>(shape.in_channels);
  image.outputs = static_cast<std::int32_t>(shape.out_channels);
  const auto copy = [](const kernels::ConvolutionShape::Lengths& from, std::int32_t* to) {
    std::transform(from.begin(), from.end(), to,
                   [](std::int64_t length) { return static_cast<std::int32_t>(length); });
  };
  copy(shape.input, image.size);
  copy(shape.kernel, image.kernel);
  copy(shape.before, image.before);
  copy(shape.behind, image.after);
  image.slope = static_cast<float>(negative_slope);
  return image;
}

struct Convolution : torch::autograd::Function<Convolution> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, const torch::Tensor& given,
                               const torch::Tensor& bias, const sagips_cuda_conv3d& shape) {
    const torch::Tensor image = input.contiguous(torch::MemoryFormat::ChannelsLast3d),
                        weight = given.contiguous();
    std::vector<std::int64_t> sizes = {shape.samples, shape.outputs};
    for (int i = 0; i < 3; ++i)
      sizes.push_back(shape.size[i] + shape.before[i] + shape.after[i] - shape.kernel[i] + 1);
    torch::Tensor output =
        torch::empty(sizes, image.options(), torch::MemoryFormat::ChannelsLast3d);
    const torch::Tensor work = work_for(shape, image);
    on_device(image.device(), &DeviceLibrary::conv3d_outputs, shape, image.data_ptr<float>(),
              weight.data_ptr<float>(), bias.numel() > 0 ? bias.data_ptr<float>() : nullptr,
              output.data_ptr<float>(), work.data_ptr());
    context->save_for_backward({image, weight, output});
    context->saved_data["has_bias"] = bias.numel() > 0;
    keep(context, shape);
    return output;
  }
  static variable_list backward(torch::autograd::AutogradContext* context,
                                const variable_list& gradients) {
    refuse_second_derivatives("a convolution on a GPU", " Set precision=float32.");
    const auto saved = context->get_saved_variables();
    const torch::Tensor &image = saved[0], &weight = saved[1], &output = saved[2];
    const auto shape = kept<sagips_cuda_conv3d>(context);
    const torch::Tensor slopes = gradients[0].contiguous(torch::MemoryFormat::ChannelsLast3d),
                        work = work_for(shape, image);
    torch::Tensor of_image, of_bias, of_weight = torch::zeros_like(weight);
    if (context->needs_input_grad(0)) {
      of_image = torch::empty_like(image);
      on_device(image.device(), &DeviceLibrary::conv3d_input_gradient, shape,
                weight.data_ptr<float>(), output.data_ptr<float>(), slopes.data_ptr<float>(),
                of_image.data_ptr<float>(), work.data_ptr());
    }
    if (context->saved_data["has_bias"].toBool())
      of_bias = torch::zeros({shape.outputs}, weight.options());
    on_device(image.device(), &DeviceLibrary::conv3d_weight_gradient, shape,
              image.data_ptr<float>(), output.data_ptr<float>(), slopes.data_ptr<float>(),
              of_weight.data_ptr<float>(), of_bias.defined() ? of_bias.data_ptr<float>() : nullptr,
              work.data_ptr());
    return {of_image, of_weight, of_bias, torch::Tensor()};
  }
  static torch::Tensor work_for(const sagips_cuda_conv3d& shape, const torch::Tensor& image) {
    return bytes_on(image.device(), device_library(image.device())->conv3d_work_bytes(shape));
  }
};

}  // namespace

bool suits_gpu(const kernels::PairShape& shape, const torch::Tensor& halves) {
  if (!has_passes(halves) || shape.widths.size() > std::size(sagips_cuda_pairs{}.widths))
    return false;
  const kernels::PanelActivation& first = shape.activations.front();
  const bool is_one = std::ranges::all_of(shape.activations, [&](const auto& one) {
    return one.kind == first.kind && one.negative_slope == first.negative_slope;
  });
  const bool is_known =
      first.kind == Kind::leaky_relu || first.kind == Kind::elu || first.kind == Kind::selu;
  return is_one && is_known &&
         device_library(halves.device())
                 ->pairs_work_bytes(gpu_shape(shape, halves.size(0)), pair_precision()) > 0;
}

torch::Tensor gpu_pair_messages(const kernels::PairShape& shape, const torch::Tensor& halves,
                                const torch::Tensor& present, const torch::Tensor& weights) {
  const torch::Tensor are_present =
      present.defined() ? present.to(torch::kUInt8).contiguous() : bytes_on(halves.device(), 0);
  return Messages::apply(halves, weights, are_present, gpu_shape(shape, halves.size(0)));
}

bool suits_gpu(const kernels::ConvolutionShape& shape, const torch::Tensor& input) {
  return precision() != Precision::float32 && input.dim() == 5 && has_passes(input) &&
         device_library(input.device())->conv3d_work_bytes(gpu_shape(shape, input.size(0), 1)) > 0;
}

torch::Tensor gpu_convolution(const kernels::ConvolutionShape& shape, double negative_slope,
                              const torch::Tensor& input, const torch::Tensor& weight,
                              const torch::Tensor& bias) {
  return Convolution::apply(input, weight,
                            bias.defined() ? bias : torch::empty({0}, weight.options()),
                            gpu_shape(shape, input.size(0), negative_slope));
}

}  // namespace sagips::nn
