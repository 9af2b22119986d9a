#pragma once
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/data/dataset.hpp"

namespace sagips::train {

/// Rank 0's data sets for everybody; the others give none. collective
std::vector<data::Dataset> distribute(comm::Ranks& ranks, std::vector<data::Dataset> events);

}  // namespace sagips::train
