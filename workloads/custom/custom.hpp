#pragma once
#include "sagips/problem/workload.hpp"

namespace sagips::workloads {

/// A problem whose parameters, observables and pipeline all come from its config.
problem::WorkloadEntry custom_workload();

}  // namespace sagips::workloads
