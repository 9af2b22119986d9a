#pragma once
#include <string>

#include "sagips/core/config/config_value.hpp"

namespace sagips::core {

/// What the places in error messages look like: "paper.yaml:12" or just "command line".
enum class Places { with_lines, without_lines };

/// Reads one YAML document; an empty text gives a value of kind none.
///
/// Stricter than YAML where that hides mistakes: a key twice, aliases and several documents are
/// refused. throws: ConfigError with the place
ConfigValue parse_yaml(const std::string& yaml, const std::string& origin, Places places);

}  // namespace sagips::core
