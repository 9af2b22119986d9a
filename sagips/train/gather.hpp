#pragma once
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::train {

/// Every rank's tensor on rank 0, by rank; nothing elsewhere. The same shape on every rank, float32
/// on the CPU. collective; waits for slow ranks as long as they live
std::vector<torch::Tensor> gather(comm::Ranks& ranks, const torch::Tensor& own);

}  // namespace sagips::train
