#pragma once
#include <optional>
#include <string>
#include <vector>

namespace sagips::analysis::drawing {

/// Runs gnuplot once on scripts of a picture each, and returns what each wrote to its standard output;
/// empty when no program of this name is on the PATH. No file is involved, and a user's own gnuplot
/// settings have no effect. throws: Error with gnuplot's own first line of complaint when it fails
std::optional<std::vector<std::string>> run_gnuplot(const std::vector<std::string>& scripts);

}  // namespace sagips::analysis::drawing
