#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::train {

/// The sum of every rank's numbers, in place, the same bits on all ranks. For a few numbers: each
/// rank sees all. collective
void add_up(comm::Ranks& ranks, std::span<double> numbers);

/// What tensors hold, one behind the other.
std::vector<std::byte> bytes_of(const std::vector<torch::Tensor>& tensors);

/// Every rank's tensor on rank 0, by rank, on the CPU; nothing elsewhere. The same shape on every rank, float32.
/// collective; waits for slow ranks as long as they live
std::vector<torch::Tensor> gather(comm::Ranks& ranks, const torch::Tensor& own);

}  // namespace sagips::train
