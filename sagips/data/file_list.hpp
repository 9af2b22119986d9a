#pragma once
#include <string>
#include <vector>

#include "sagips/data/reading.hpp"

namespace sagips::data {

/// The files that such names stand for, in order, as the first rank finds them: patterns by name, lists
/// (of files and patterns) as they say.
/// throws: DataError for a pattern that fits no file, a list that cannot be read or is empty; collective
std::vector<std::string> files_named(const std::vector<std::string>& names, const Reading& reading);

}  // namespace sagips::data
