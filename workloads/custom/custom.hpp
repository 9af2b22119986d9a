#pragma once
#include "sagips/optim/workload.hpp"

namespace sagips::workloads {

/// A problem whose parameters, observables and pipeline all come from its config.
optim::WorkloadEntry custom_workload();

}  // namespace sagips::workloads
