#pragma once
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/record/environment.hpp"

namespace sagips::run {

/// Versions, host, processors, ranks, threads and the command line of this process.
/// threads: of each rank; 0: members choose their own
std::vector<record::NamedText> run_environment(const comm::Ranks& ranks, int threads);

}  // namespace sagips::run
