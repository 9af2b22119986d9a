#pragma once
#include <span>

#include "sagips/comm/ranks.hpp"

namespace sagips::train {

/// The sum of every rank's numbers, in place, the same bits on all ranks. For a few numbers: each
/// rank sees all. collective
void add_up(comm::Ranks& ranks, std::span<double> numbers);

}  // namespace sagips::train
