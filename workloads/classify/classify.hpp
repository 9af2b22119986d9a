#pragma once
#include "sagips/problem/workload.hpp"

namespace sagips::workloads {

/// Images and the class that each of them shows: known ones, or drawn ones.
problem::WorkloadEntry classify_workload();

}  // namespace sagips::workloads
