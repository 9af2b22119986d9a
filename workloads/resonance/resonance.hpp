#pragma once
#include "sagips/optim/workload.hpp"

namespace sagips::workloads {

/// Mass and resolution of a resonance in di-muon events over a falling background.
optim::WorkloadEntry resonance_workload();

}  // namespace sagips::workloads
