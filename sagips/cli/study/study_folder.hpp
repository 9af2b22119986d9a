#pragma once
#include <string>

#include "sagips/cli/commands.hpp"
#include "sagips/record/open_run.hpp"

namespace sagips::cli {

/// Opens a study's folder as `record::open_run` does: the one that the same command left, or a new
/// one. With --override a study may be given more members or be started in another way, but not
/// other trainings: only keys of `group` may change.
/// throws: ConfigError, StorageError
record::OpenedRun open_study(const Job& job, const std::string& command, const std::string& group,
                             const Arguments& arguments);

}  // namespace sagips::cli
