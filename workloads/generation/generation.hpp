#pragma once
#include "sagips/problem/learning.hpp"

namespace sagips::workloads {

/// A network that makes examples like those of a learning workload, all of it in the config.
problem::GenerationEntry generation_workload();

}  // namespace sagips::workloads
