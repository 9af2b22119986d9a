#pragma once
#include <set>
#include <string>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::study {

/// throws: ConfigError for a value of a list that is there twice; where: the option or key
template <class Value>
void check_named_once(const std::vector<Value>& values, const std::string& where) {
  std::set<Value> seen;
  for (const Value& value : values)
    if (!seen.insert(value).second)
      throw core::ConfigError(where,
                              core::text("'", value, "' is there twice. Name a value once."));
}

}  // namespace sagips::study
