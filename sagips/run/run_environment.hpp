#pragma once
#include <vector>

#include <torch/types.h>

#include "sagips/comm/ranks.hpp"
#include "sagips/record/environment.hpp"

namespace sagips::run {

/// Versions, host, processors, ranks, threads and the command line of this process.
/// threads: of each rank; 0: members choose their own
/// device: of the first rank
std::vector<record::NamedText> run_environment(const comm::Ranks& ranks, int threads,
                                               const torch::Device& device = torch::kCPU);

}  // namespace sagips::run
