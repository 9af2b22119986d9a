#pragma once
#include "sagips/problem/workload.hpp"

namespace sagips::workloads {

/// Five parameters of a density of two observables that depend on each other.
problem::WorkloadEntry proxy2d_workload();

}  // namespace sagips::workloads
