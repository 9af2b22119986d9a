#pragma once
#include <memory>
#include <span>
#include <string>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/error.hpp"

namespace sagips::cli {

/// The ranks of this job as the launcher started them; one when there is no launcher.
/// throws: core::Error (exit code 2) when several tasks were started without MPI
std::unique_ptr<comm::Ranks> make_ranks();

/// Ends a job of several ranks: the first one to fail prints its line, all end with its exit code.
[[noreturn]] void end_job(comm::Ranks& ranks, const std::string& message, core::ExitCode code);

/// Every rank must run the same program with the same config. collective
/// throws: ConfigError on a rank that differs from rank 0; says in what
void check_agreement(comm::Ranks& ranks, const std::string& effective_config);

/// All replicas must begin alike, or they never exchange gradients of one network. collective
/// throws: core::Error on a rank whose weights differ from rank 0's
void check_equal_start(comm::Ranks& ranks, std::span<const float> weights);

/// throws: ConfigError when several ranks were started for a command that works on one
void require_one_rank(const comm::Ranks& ranks, const std::string& command);

/// How many ranks of this node run on the same processors as this one. collective
int ranks_on_these_processors(comm::Ranks& ranks);

}  // namespace sagips::cli
