#include "sagips/nn/pair_messages.hpp"

#include <utility>

#include <ATen/Parallel.h>
#include <torch/autograd.h>
#include <torch/custom_class.h>
#include <torch/torch.h>

#include "sagips/nn/kernel_function.hpp"

namespace sagips::nn {

namespace {

using kernels::PairPasses;

struct Messages : torch::autograd::Function<Messages> {
  struct Kept : torch::CustomClassHolder {
    explicit Kept(std::shared_ptr<const PairPasses> shared) : passes(std::move(shared)) {}
    std::shared_ptr<const PairPasses> passes;
  };

  static PairPasses::Events events(const PairPasses& passes, const torch::Tensor& halves,
                                   const torch::Tensor& present, std::int64_t first,
                                   std::int64_t last) {
    const std::uint8_t* const are_present =
        present.numel() > 0 ? present.const_data_ptr<std::uint8_t>() : nullptr;
    return {last - first, halves.const_data_ptr<float>() + first * passes.shape().half_numbers(),
            are_present ? are_present + first * passes.shape().particles : nullptr};
  }

  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& given, const torch::Tensor& weights,
                               const torch::Tensor& present,
                               const std::shared_ptr<const PairPasses>& shared) {
    const PairPasses& passes = *shared;
    const torch::Tensor halves = given.contiguous(), flat = weights.contiguous();
    auto messages =
        torch::empty({halves.size(0), halves.size(1), passes.shape().outputs()}, halves.options());
    float* const to = messages.mutable_data_ptr<float>();
    const auto packed = passes.pack(flat.const_data_ptr<float>());
    share_pieces(halves.size(0), 1, [&](std::int64_t first, std::int64_t last) {
      passes.forward(events(passes, halves, present, first, last), packed,
                     to + first * passes.shape().message_numbers());
    });
    context->save_for_backward({halves, flat, present});
    context->saved_data["kept"] = c10::IValue::make_capsule(c10::make_intrusive<Kept>(shared));
    return messages;
  }

  // Threads have sums of their own, which are added in their order.
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    refuse_second_derivatives("messages between particles");
    const auto saved = context->get_saved_variables();
    const torch::Tensor &halves = saved[0], &flat = saved[1], &present = saved[2];
    const auto kept =
        c10::static_intrusive_pointer_cast<Kept>(context->saved_data["kept"].toCapsule());
    const PairPasses& passes = *kept->passes;
    const torch::Tensor slopes = gradients[0].contiguous();
    torch::Tensor of_halves = torch::empty_like(halves);
    torch::Tensor sums = torch::zeros({at::get_num_threads(), passes.weights()}, flat.options());
    const float* const from = slopes.const_data_ptr<float>();
    float *const to = of_halves.mutable_data_ptr<float>(), *const sum =
                                                               sums.mutable_data_ptr<float>();
    const auto packed = passes.pack(flat.const_data_ptr<float>());
    share_pieces(halves.size(0), 1, [&](std::int64_t first, std::int64_t last) {
      passes.backward(events(passes, halves, present, first, last), packed,
                      from + first * passes.shape().message_numbers(),
                      to + first * passes.shape().half_numbers(),
                      sum + at::get_thread_num() * passes.weights());
    });
    return {of_halves, sums.sum(0), torch::Tensor(), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor pair_messages(const std::shared_ptr<const PairPasses>& passes,
                            const torch::Tensor& halves, const torch::Tensor& present,
                            const torch::Tensor& weights) {
  const torch::Tensor bytes =
      present.defined() ? present.to(torch::kUInt8).contiguous() : torch::empty({0}, torch::kUInt8);
  return Messages::apply(halves, weights, bytes, passes);
}

}  // namespace sagips::nn
