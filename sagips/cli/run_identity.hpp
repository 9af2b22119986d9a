#pragma once
#include <string>

#include "sagips/cli/settings.hpp"
#include "sagips/record/open_run.hpp"

namespace sagips::cli {

/// What a command must have in common with the run that it goes on with: its config and the content
/// of its files of measured events.
record::RunIdentity run_identity(const Job& job, const std::string& command);

}  // namespace sagips::cli
