#pragma once
#include "sagips/optim/workload.hpp"

namespace sagips::workloads {

/// Five parameters of a density of two observables that depend on each other.
optim::WorkloadEntry proxy2d_workload();

}  // namespace sagips::workloads
