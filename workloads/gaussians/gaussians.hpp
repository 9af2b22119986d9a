#pragma once
#include "sagips/optim/workload.hpp"

namespace sagips::workloads {

/// Three parameters behind several data sets, of which each sees one combination alone.
optim::WorkloadEntry gaussians_workload();

}  // namespace sagips::workloads
