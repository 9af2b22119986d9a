#pragma once

namespace sagips::python {

/// Lets configs find modules of PyTorch as layers: {module: "MODULE:CLASS"}, or a file that keeps one.
void add_networks();

}  // namespace sagips::python
