#pragma once
#include "sagips/problem/workload.hpp"

namespace sagips::workloads {

/// The closure test of the SAGIPS paper: six parameters of two quark-like densities from pairs of
/// events.
problem::WorkloadEntry proxy1d_workload();

}  // namespace sagips::workloads
