#pragma once
#include "sagips/optim/workload.hpp"

namespace sagips::workloads {

/// The closure test of the SAGIPS paper: six parameters of two quark-like densities from pairs of
/// events.
optim::WorkloadEntry proxy1d_workload();

}  // namespace sagips::workloads
