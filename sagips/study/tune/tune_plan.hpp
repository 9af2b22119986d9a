#pragma once
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/log.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/study/tune/tune_config.hpp"

namespace sagips::study {

/// Refuses before the first trial what no trial could do: keys that there are not, values that a
/// training refuses, a metric that no evaluation has; warns of keys that have no effect in any. Loads the data once. Returns what tells them from
/// others.
/// throws: ConfigError, and what loading the data throws
std::string check_tuning(const run::Workloads& workloads, const std::string& source,
                         const std::vector<std::string>& assignments, const run::Job& job,
                         const run::Usage& usage, core::Log& log);

/// throws: ConfigError when the ranks of a job are no whole number of blocks
void check_blocks(const TuneConfig& config, const comm::Ranks& ranks);

/// Keys of `tune` that may differ when a study is gone on with.
std::vector<std::string> keys_of_workers();

}  // namespace sagips::study
