#pragma once
#include "sagips/problem/learning.hpp"

namespace sagips::workloads {

/// A network that learns targets from inputs, all of it in the config.
problem::LearningEntry learning_workload();

}  // namespace sagips::workloads
