#pragma once
#include <nanobind/nanobind.h>

namespace sagips::python {

/// Adds the class `TrainedNetwork`: what the networks of a run folder say of rows.
void add_trained(nanobind::module_& module);

}  // namespace sagips::python
