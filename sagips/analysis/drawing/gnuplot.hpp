#pragma once
#include <optional>
#include <string>

namespace sagips::analysis::drawing {

/// Runs gnuplot on a script and returns what it wrote to its standard output; empty when no program
/// of this name is on the PATH. No file is involved, and a user's own gnuplot settings have no
/// effect. throws: Error with gnuplot's own first line of complaint when it fails
std::optional<std::string> run_gnuplot(const std::string& script);

}  // namespace sagips::analysis::drawing
