#pragma once
#include <cstdint>

#include "sagips/core/random.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::env {

/// Numbers 0 ... size - 1 in random order, each order as likely as the others.
/// shape: [orders, size], int64; order k is named by sample first + k of the stream
/// cost:  O(orders size log size)
torch::Tensor shuffled(std::int64_t size, std::int64_t orders, const core::RandomStream& stream,
                       std::int64_t first = 0);

/// The first `count` of order 0, without room for the others. shape: [count], int64
/// cost:  O(size + count log size log count), 16 count bytes
torch::Tensor first_shuffled(std::int64_t size, std::int64_t count,
                             const core::RandomStream& stream);

}  // namespace sagips::env
