#include "sagips/train/host_mirror.hpp"

#include <chrono>

#include "sagips/nn/device.hpp"

namespace sagips::train {

namespace {

torch::Tensor memory_for(const torch::Tensor& numbers, bool stays = false) {
  if (numbers.is_cpu() || stays) return numbers;
  return torch::empty(numbers.sizes(), torch::dtype(torch::kFloat32).pinned_memory(true));
}

}  // namespace

HostMirror::HostMirror(nn::Replica& replica, bool leaves_on_gpu)
    : replica_(replica),
      shared_(replica.shared_size()),
      weights_(memory_for(replica.weights(), leaves_on_gpu)),
      gradients_(memory_for(replica.gradients(), leaves_on_gpu)),
      statistics_(memory_for(replica.buffers())) {}

double HostMirror::copy(const Parts& parts, bool takes) {
  if (!is_copy()) return 0;
  const auto start = std::chrono::steady_clock::now();
  const core::Span copying(tracer_, takes ? "copy from the GPU" : "copy to the GPU",
                           core::TraceRow::exchange);
  const torch::NoGradGuard no_grad;
  bool moves = false;
  const auto move = [&](const torch::Tensor& here, const torch::Tensor& there, std::int64_t count) {
    if (count == 0 || here.is_same(there)) return;
    const torch::Tensor from = (takes ? there : here).narrow(0, 0, count);
    (takes ? here : there).narrow(0, 0, count).copy_(from, /*non_blocking=*/true);
    moves = true;
  };
  if (parts.gradients) move(gradients_, replica_.gradients(), shared_);
  if (parts.weights) move(weights_, replica_.weights(), shared_);
  if (parts.statistics) move(statistics_, replica_.buffers(), statistics_.numel());
  if (!moves) return 0;
  // What follows on the GPU would wait by itself, but others work on these copies at once.
  nn::wait_for(replica_.weights().device());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace sagips::train
