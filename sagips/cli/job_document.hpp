#pragma once
#include <string>
#include <vector>

#include "sagips/cli/settings.hpp"
#include "sagips/core/config/config.hpp"

namespace sagips::cli {

/// What `read_job` reads: the settings of a workload, what `source` lays over them, the assignments.
/// For who must know whether a key was set. throws: ConfigError
core::ConfigDocument job_document(const Workloads& workloads, const std::string& source,
                                  const std::vector<std::string>& assignments);

}  // namespace sagips::cli
