#pragma once
#include <cstdint>
#include <vector>

#include <torch/types.h>

namespace sagips::nn {

/// Max pooling, differentiable: boxes that touch, on as many threads as LibTorch has. Channels that are last in
/// memory stay so.
/// shape: input [rows, channels, ...] float32 on a CPU; box: a length for each dimension behind these
torch::Tensor largest_of_boxes(const torch::Tensor& input, const std::vector<std::int64_t>& box);

}  // namespace sagips::nn
