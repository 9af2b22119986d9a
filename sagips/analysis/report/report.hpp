#pragma once
#include <string>
#include <vector>

namespace sagips::analysis::report {

struct ReportRequest {
  std::vector<std::string> folders;  ///< of runs; several are compared
  std::string figures_folder{};      ///< every figure is kept there as files, too; empty: nowhere
};

/// One HTML page with everything that the run folders hold: it opens without a network, runs no
/// script, and follows light and dark. What is missing is said in its place.
/// throws: ConfigError when a folder is none of a run; StorageError when figures cannot be kept
std::string report_page(const ReportRequest& request);

}  // namespace sagips::analysis::report
