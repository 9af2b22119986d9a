#pragma once
// For sources of this layer only: no public header shows the JSON library.
#include <functional>
#include <string>

#include "sagips/record/json.hpp"

namespace sagips::record {

/// throws: StorageError, with the reason that errno gives
[[noreturn]] void refuse_to_write(const std::string& path);

/// Adds a line to a file of JSON lines; complete when it returns. The beginning of a line that a crash
/// has cut off is taken out first. throws: StorageError
void append_json_line(const std::string& path, const Json& object);

/// Each line of such a file but a last one that was cut off. what: "experiment", for messages
/// throws: DataError for any other line that cannot be read
void read_json_lines(const std::string& path, const std::string& what,
                     const std::function<void(const Json&)>& use);

}  // namespace sagips::record
