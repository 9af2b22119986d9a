#pragma once
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/data/arrays.hpp"

namespace sagips::run {

/// Makes tensors on the first rank of each node, in memory that the ranks there share. collective
/// throws: what `make` throws, StorageError
std::vector<torch::Tensor> once_a_node(comm::Ranks& ranks, const data::Reading::Make& make);

}  // namespace sagips::run
