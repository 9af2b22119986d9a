#pragma once
#include <nanobind/nanobind.h>

#include "sagips/problem/problem.hpp"

namespace sagips::python {

/// Adds the class `Noise`, as functions get it, and lets configs find functions: {python: "module:function"}.
void add_stages(nanobind::module_& module);

/// Lets configs find modules of PyTorch as layers: {module: "MODULE:CLASS"}, or a file that keeps one.
void add_networks();

/// Lets configs find losses, metrics and functions of rows: MODULE:FUNCTION, or a file that keeps one.
void add_functions();

/// Adds the class `TrainedNetwork`: what the networks of a run folder say of rows.
void add_trained(nanobind::module_& module);

/// The workload `objective`: a Python function that `tune` calls in place of trainings.
problem::Entry objective_workload();

}  // namespace sagips::python
