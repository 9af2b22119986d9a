#pragma once
#include "sagips/problem/learning.hpp"

namespace sagips::workloads {

/// Images and the class that each of them shows: known ones, or drawn ones.
problem::LearningEntry classify_workload();

}  // namespace sagips::workloads
