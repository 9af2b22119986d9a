#pragma once
#include "sagips/problem/learning.hpp"

namespace sagips::workloads {

/// A generator of showers in a calorimeter for a particle's energy and angle.
problem::GenerationEntry calorimeter3d_workload();

}  // namespace sagips::workloads
