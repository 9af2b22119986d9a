#pragma once
#include <memory>
#include <vector>

#include <torch/types.h>

#include "sagips/kernels/pair_passes.hpp"

namespace sagips::nn {

/// Messages between particles by kernels::PairPasses, differentiable, on as many threads as LibTorch has.
/// shape: halves, which suits kernels, [events, particles, 2, width], present [events, particles] of bools, or
/// undefined where all are; weights [passes->weights()] -> [events, particles, outputs]
torch::Tensor pair_messages(const std::shared_ptr<const kernels::PairPasses>& passes,
                            const torch::Tensor& halves, const torch::Tensor& present,
                            const torch::Tensor& weights);

}  // namespace sagips::nn
