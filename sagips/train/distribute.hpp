#pragma once
#include "sagips/comm/ranks.hpp"
#include "sagips/data/dataset.hpp"
#include "sagips/problem/workload.hpp"

namespace sagips::train {

/// Rank 0 loads, everybody gets the same events. collective
/// throws: what `load` throws, on rank 0
data::Dataset distribute(comm::Ranks& ranks, const problem::DataShare::Load& load);

}  // namespace sagips::train
