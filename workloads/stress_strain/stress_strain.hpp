#pragma once
#include "sagips/problem/learning.hpp"
#include "sagips/problem/workload.hpp"

namespace sagips::workloads {

/// A regression: two parameters of a material from the points of its stress-strain curve.
problem::LearningEntry stress_strain_workload();

/// The same two parameters from one measured curve, or several of one material, as an inverse problem.
problem::WorkloadEntry stress_strain_curve_workload();

}  // namespace sagips::workloads
