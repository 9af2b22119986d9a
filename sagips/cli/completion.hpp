#pragma once
#include <span>
#include <string>
#include <vector>

#include "sagips/cli/command_entry.hpp"

namespace sagips::cli {

/// What may stand for the last of these words, which is still being written: commands, workloads,
/// options, and the keys of the config that the first argument names, as "key=". Empty where a file
/// may stand there, or where the config cannot be read.
/// words: those after the program's name
std::vector<std::string> completions(std::span<const CommandEntry> commands,
                                     const Workloads& workloads,
                                     const std::vector<std::string>& words);

}  // namespace sagips::cli
