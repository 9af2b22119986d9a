#include "sagips/nn/layers/norm_over_ranks.hpp"

#include <torch/autograd.h>

namespace sagips::nn {

namespace {

torch::Tensor added_up(const torch::Tensor& own, const AddUp& add_up) {
  torch::Tensor all = own.detach().to(torch::kCPU, torch::kFloat64).contiguous().clone();
  add_up({all.data_ptr<double>(), static_cast<std::size_t>(all.numel())});
  return all.to(own.device());
}

// What every rank's loss depends on of what this rank has given: its slope is the sum over ranks, too.
torch::Tensor sum_over_ranks(const torch::Tensor& own, const AddUp& add_up) {
  torch::Tensor all = added_up(own, add_up) + (own - own.detach());
  if (all.requires_grad())
    all.register_hook([&add_up](const torch::Tensor& slope) { return added_up(slope, add_up); });
  return all;
}

}  // namespace

// Squares are taken around this rank's mean: float32 has no digits for those of large numbers. What float64 loses on
// the way to the common mean is less than float32 tells apart, but of a constant it may lie below 0.
torch::Tensor batch_norm_over_ranks(const torch::Tensor& input, const LayerTensors& tensors,
                                    double momentum, double epsilon, const AddUp& add_up) {
  const std::int64_t channels = input.size(1);
  std::vector<std::int64_t> others{0}, shape(static_cast<std::size_t>(input.dim()), 1);
  for (std::int64_t k = 2; k < input.dim(); ++k) others.push_back(k);
  shape[1] = channels;
  const auto each_row = [&](const torch::Tensor& numbers) {
    return numbers.to(input.scalar_type()).view(shape);
  };
  const std::int64_t numbers_of_channel = input.numel() / channels;
  const torch::Tensor own_count = torch::full({1}, static_cast<double>(numbers_of_channel),
                                              input.options().dtype(torch::kFloat64));
  const torch::Tensor own_sum = input.sum(others, false, torch::kFloat64);
  const torch::Tensor middle = (own_sum.detach() / own_count).to(input.scalar_type());
  const torch::Tensor around = middle.to(torch::kFloat64);
  const torch::Tensor own_square =
      (input - each_row(middle)).square().sum(others, false, torch::kFloat64) +
      around * (2 * own_sum - own_count * around);
  const torch::Tensor all = sum_over_ranks(torch::cat({own_sum, own_square, own_count}), add_up);
  const torch::Tensor count = all.narrow(0, 2 * channels, 1).detach();
  const torch::Tensor mean = all.narrow(0, 0, channels) / count;
  const torch::Tensor variance =
      (all.narrow(0, channels, channels) / count - mean.square()).clamp_min(0);
  {
    const torch::NoGradGuard no_grad;
    tensors.buffers[0].lerp_(mean.to(input.scalar_type()), momentum);
    tensors.buffers[1].lerp_((variance * count / (count - 1)).to(input.scalar_type()), momentum);
  }
  return (input - each_row(mean)) * each_row(tensors.weights[0] / (variance + epsilon).sqrt()) +
         each_row(tensors.weights[1]);
}

}  // namespace sagips::nn
