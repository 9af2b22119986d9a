#pragma once

namespace sagips::python {

/// Lets configs find losses, metrics and functions of rows: MODULE:FUNCTION, or a file that keeps one.
void add_functions();

}  // namespace sagips::python
