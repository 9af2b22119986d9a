#pragma once
#include "sagips/problem/workload.hpp"

namespace sagips::workloads {

/// Valence quark densities that evolve with Q2, from deep inelastic events on protons and neutrons.
problem::WorkloadEntry duke_owens_workload();

}  // namespace sagips::workloads
