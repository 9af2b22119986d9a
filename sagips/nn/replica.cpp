#include "sagips/nn/replica.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/network.hpp"

namespace sagips::nn {

namespace {

bool is_shared(const ParameterTensor& parameter, SharedPart shared) {
  if (shared == SharedPart::all) return true;
  return shared == SharedPart::weights_only && !parameter.is_bias;
}

}  // namespace

Replica::Replica(std::vector<ParameterTensor> parameters, SharedPart shared, torch::Device device,
                 const std::vector<BufferTensor>& buffers)
    : parameters_(std::move(parameters)), offsets_(parameters_.size()) {
  std::int64_t offset = 0;
  for (const bool shared_pass : {true, false}) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (is_shared(parameters_[i], shared) != shared_pass) continue;
      offsets_[i] = offset;
      offset += parameters_[i].size();
    }
    if (shared_pass) shared_size_ = offset;
  }
  const auto options = torch::dtype(torch::kFloat32).device(device);
  weights_ = torch::zeros({offset}, options);
  std::vector<torch::Tensor> initial;
  for (const BufferTensor& buffer : buffers)
    initial.push_back(buffer.initial.to(options).flatten());
  buffers_ = initial.empty() ? torch::empty({0}, options) : torch::cat(initial);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    buffer_views_.push_back(
        buffers_.narrow(0, first, initial[i].numel()).view(buffers[i].initial.sizes()));
    first += initial[i].numel();
  }
  leaves_ = make_leaves();
}

Replica::Replica(std::shared_ptr<const Network> network, SharedPart shared, torch::Device device)
    : Replica(network->parameters(), shared, device, network->buffers()) {
  network_ = std::move(network);
  network_->bind(leaves_);
}

torch::Tensor Replica::view(const torch::Tensor& flat, std::size_t i) const {
  return flat.narrow(0, offsets_[i], parameters_[i].size()).view(parameters_[i].shape);
}

Leaves Replica::make_leaves() const {
  Leaves leaves;
  leaves.gradients = torch::zeros_like(weights_);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::Tensor leaf = view(weights_, i).detach().requires_grad_();
    leaf.mutable_grad() = view(leaves.gradients, i);
    leaves.tensors.push_back(leaf);
  }
  leaves.buffers = buffer_views_;
  if (network_) network_->bind(leaves);
  return leaves;
}

Leaves Replica::leaves_over(const torch::Tensor& flat) const {
  Leaves leaves;
  for (std::size_t i = 0; i < parameters_.size(); ++i) leaves.tensors.push_back(view(flat, i));
  for (const torch::Tensor& buffer : buffer_views_)
    leaves.buffers.push_back(buffer.to(flat.device()));
  if (network_) network_->bind(leaves);
  return leaves;
}

void Replica::collect(Leaves& accumulator) {
  leaves_.gradients.add_(accumulator.gradients);
  accumulator.gradients.zero_();
}

void Replica::state(StateList& list) {
  list.field("weights", weights_);
  if (buffers_.numel() > 0) list.field("buffers", buffers_);
}

void Replica::zero_gradients() { leaves_.gradients.zero_(); }

std::span<float> Replica::shared_weights() {
  return {weights_.data_ptr<float>(), static_cast<std::size_t>(shared_size_)};
}

std::span<float> Replica::shared_gradients() {
  return {leaves_.gradients.data_ptr<float>(), static_cast<std::size_t>(shared_size_)};
}

std::span<float> Replica::running_statistics() {
  return {buffers_.data_ptr<float>(), static_cast<std::size_t>(buffers_.numel())};
}

void Replica::check_views(const Leaves& leaves) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const torch::Tensor& leaf = leaves.tensors[i];
    const bool weight_is_view = leaf.data_ptr() == view(weights_, i).data_ptr();
    const bool gradient_is_view =
        leaf.grad().defined() && leaf.grad().data_ptr() == view(leaves.gradients, i).data_ptr();
    if (!weight_is_view || !gradient_is_view)
      throw core::StateError(core::text(
          "'", parameters_[i].name, "' no longer lies in the replica's flat arrays (exchange and ",
          "update would work on stale numbers). Do not reset, move or replace its ",
          weight_is_view ? "gradient" : "data", "; penalties use torch::autograd::grad."));
  }
}

}  // namespace sagips::nn
