#include "sagips/nn/largest_of_boxes.hpp"

#include <torch/autograd.h>
#include <torch/torch.h>

#include "sagips/kernels/boxes.hpp"
#include "sagips/nn/kernel_function.hpp"

namespace sagips::nn {

namespace {

bool has_last_channels(const torch::Tensor& input) {
  return input.dim() == 4 && !input.is_contiguous() &&
         input.is_contiguous(at::MemoryFormat::ChannelsLast);
}

at::MemoryFormat format_of(const torch::Tensor& input) {
  return has_last_channels(input) ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
}

/// Arrays of images as boxes see them.
struct Arrays {
  Arrays(const torch::Tensor& input, const std::vector<std::int64_t>& box) {
    const auto dimensions = static_cast<std::int64_t>(box.size());
    for (std::int64_t i = 0; i < dimensions; ++i) {
      const auto place = static_cast<std::size_t>(i + 3 - dimensions);
      boxes.lengths[place] = input.size(i + 2);
      boxes.box[place] = box[static_cast<std::size_t>(i)];
    }
    if (has_last_channels(input)) boxes.inner = input.size(1);
    outer = input.numel() / std::max<std::int64_t>(1, boxes.numbers());
  }
  void each(const std::function<void(std::int64_t outer)>& work) const {
    share_pieces(outer, std::max<std::int64_t>(1, 32768 / boxes.numbers()),
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t i = first; i < last; ++i) work(i);
                 });
  }
  kernels::Boxes boxes;
  std::int64_t outer;
};

struct Largest : torch::autograd::Function<Largest> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, const std::vector<std::int64_t>& box) {
    const torch::Tensor from = input.contiguous(format_of(input));
    const Arrays arrays(from, box);
    std::vector<std::int64_t> sizes = from.sizes().vec();
    for (std::size_t i = 0; i < box.size(); ++i) sizes[i + 2] /= box[i];
    torch::Tensor largest = torch::empty(sizes, from.options().memory_format(format_of(from)));
    const float* const numbers = from.const_data_ptr<float>();
    float* const to = largest.mutable_data_ptr<float>();
    arrays.each([&](std::int64_t i) {
      kernels::largest_of_boxes(arrays.boxes, numbers + i * arrays.boxes.numbers(),
                                to + i * arrays.boxes.all());
    });
    context->save_for_backward({from, largest});
    context->saved_data["box"] = box;
    return largest;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    refuse_second_derivatives("max pooling");
    const auto saved = context->get_saved_variables();
    const torch::Tensor &from = saved[0], &largest = saved[1];
    const torch::Tensor gradient = gradients[0].contiguous(format_of(from));
    const Arrays arrays(from, context->saved_data["box"].toIntVector());
    torch::Tensor to = torch::empty_like(from);
    const float *const numbers = from.const_data_ptr<float>(),
                       *const found = largest.const_data_ptr<float>(),
                       *const given = gradient.const_data_ptr<float>();
    float* const own = to.mutable_data_ptr<float>();
    arrays.each([&](std::int64_t i) {
      const std::int64_t number = i * arrays.boxes.numbers(), box = i * arrays.boxes.all();
      kernels::give_to_largest(arrays.boxes, numbers + number, found + box, given + box,
                               own + number);
    });
    return {to, {}};
  }
};

}  // namespace

torch::Tensor largest_of_boxes(const torch::Tensor& input, const std::vector<std::int64_t>& box) {
  return Largest::apply(input, box);
}

}  // namespace sagips::nn
