#pragma once
#include "sagips/problem/workload.hpp"

namespace sagips::workloads {

/// Three parameters behind several data sets, of which each sees one combination alone.
problem::WorkloadEntry gaussians_workload();

}  // namespace sagips::workloads
