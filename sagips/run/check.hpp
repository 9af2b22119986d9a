#pragma once
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/log.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// What a look at a job has shown, on the first rank.
struct Checked {
  std::string report;                 ///< lines for a person: pipelines, data, networks, ranks
  std::vector<std::string> problems;  ///< each once; none: the job is ready
  bool trainable = true;              ///< false: `solve` alone can do it, a gradient is missing
};

/// Looks at config, data and pipelines or networks of a job without training or solving it, and on several
/// ranks at what a training on them would refuse. What is no problem and worth knowing goes to the log.
/// collective. throws: CommError
Checked check(const Workloads& workloads, Job& job, comm::Ranks& ranks, core::Log& log);

}  // namespace sagips::run
