#pragma once
#include <vector>

#include "sagips/cli/command_options.hpp"
#include "sagips/cli/commands.hpp"

namespace sagips::cli {

using Command = core::ExitCode (*)(const Workloads&, const Arguments&);

/// A command as the program's table has it.
// Members stand in the order in which that table fills them.
struct CommandEntry {  // NOLINT(clang-analyzer-optin.performance.Padding)
  const char* name;
  const char* summary;
  const char* examples;  ///< lines with an indent of two; the first one runs as it is
  Command command;
  /// Who works when several ranks were started: all, the first one alone, or nobody.
  enum class OverRanks { all, first, one } over_ranks;
  std::vector<CommandOption> options{};
  std::vector<run::SettingsGroup> settings{};  ///< that this command alone reads
  const char* source = "NAME|FILE";            ///< name of the first argument; empty: none
  const char* source_help = "a workload, WORKLOAD/SETTINGS, or a YAML file";
  bool needs_source = true;
  /// What may follow the first argument.
  const char* rest = "key=value";
  const char* rest_help =
      "overrides of the config, of which a key's last one counts; see `sagips explain`";
  std::vector<std::string> source_words{};  ///< what the first argument may be, where these are few
};

}  // namespace sagips::cli
