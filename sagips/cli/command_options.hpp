#pragma once
#include <vector>

namespace sagips::cli {

/// An option of one command: `--members N`, `--fresh`.
struct CommandOption {
  const char* name;   ///< without dashes
  const char* value;  ///< what follows it, in capitals; empty: nothing does
  const char* help;
  bool repeats = false;
  bool hidden = false;  ///< for children that a command starts
};

// What scripts want of a command; see Output.
inline constexpr CommandOption quiet_option{"quiet", "",
                                            "only warnings and errors, on standard error"};
inline constexpr CommandOption json_option{
    "json", "", "results as one JSON object on standard output, all else on standard error"};

// The options of the commands that have many.
std::vector<CommandOption> closure_options();
std::vector<CommandOption> ensemble_options();
std::vector<CommandOption> convergence_options();
std::vector<CommandOption> scaling_options();
std::vector<CommandOption> simulate_options();
std::vector<CommandOption> tune_options();

}  // namespace sagips::cli
