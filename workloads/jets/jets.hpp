#pragma once
#include "sagips/problem/learning.hpp"

namespace sagips::workloads {

/// Jets of particles and what each of them began with: toys, or the files of JEDI-net.
problem::LearningEntry jets_workload();

}  // namespace sagips::workloads
