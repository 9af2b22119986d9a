#pragma once
#include <string>
#include <vector>

namespace sagips::analysis::report {

/// One HTML page with everything that the run folders hold: it opens without a network, runs no
/// script, and follows light and dark. What is missing is said in its place.
/// folders: of runs; several are compared
/// figures_folder: every figure is kept there as files, too; empty: nowhere
/// throws: ConfigError when a folder is none of a run; StorageError when figures cannot be kept
std::string report_page(const std::vector<std::string>& folders,
                        const std::string& figures_folder = "");

}  // namespace sagips::analysis::report
