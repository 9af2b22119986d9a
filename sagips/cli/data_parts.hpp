#pragma once
#include "sagips/cli/settings.hpp"
#include "sagips/comm/ranks.hpp"
#include "sagips/problem/workload.hpp"

namespace sagips::cli {

/// Each rank holds a part of the events, no event twice: for sums over ranks.
problem::DataShare parts_of_data(const Job& job, comm::Ranks& ranks);

}  // namespace sagips::cli
