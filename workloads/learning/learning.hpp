#pragma once
#include "sagips/problem/workload.hpp"

namespace sagips::workloads {

/// A network that learns targets from inputs, all of it in the config.
problem::WorkloadEntry learning_workload();

}  // namespace sagips::workloads
