#pragma once
#include <memory>
#include <string>

#include "sagips/comm/ranks.hpp"
#include "sagips/core/error.hpp"

namespace sagips::cli {

/// The ranks of this job as the launcher started them; one when there is no launcher.
/// throws: core::Error (exit code 2) when several tasks were started without MPI
std::unique_ptr<comm::Ranks> make_ranks();

/// Ends a job of several ranks: the first one to fail prints its line, all end with its exit code.
[[noreturn]] void end_job(comm::Ranks& ranks, const std::string& message, core::ExitCode code);

/// throws: ConfigError when several ranks were started for a command that works on one
void require_one_rank(const comm::Ranks& ranks, const std::string& command);

}  // namespace sagips::cli
