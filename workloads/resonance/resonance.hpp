#pragma once
#include "sagips/problem/workload.hpp"

namespace sagips::workloads {

/// Mass and resolution of a resonance in di-muon events over a falling background.
problem::WorkloadEntry resonance_workload();

}  // namespace sagips::workloads
