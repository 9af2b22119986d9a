#pragma once
#include "sagips/problem/problem.hpp"

namespace sagips::python {

/// The workload `objective`: a Python function that `tune` calls in place of trainings.
problem::Entry objective_workload();

}  // namespace sagips::python
