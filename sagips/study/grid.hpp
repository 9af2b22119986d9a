#pragma once
#include <set>
#include <string>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/study.hpp"

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

/// Refuses a key that a study cannot let its trainings differ in: one that it sets itself, or that no
/// training reads. place: for messages; not_of_trainings: groups of keys that no training reads
/// throws: ConfigError
void check_varied_key(const std::string& place, const std::string& key,
                      const std::vector<std::string>& not_of_trainings);

/// The points of a grid: the product of its lists, {"a=1,2", "b=x,[y,z]"} -> 4 variants. Commas
/// inside brackets, braces or quotes do not part values. No grid: one variant, "all".
/// throws: ConfigError for a list without key or values, one of such a key, or a point that is there
///         twice
std::vector<record::StudyVariant> grid_variants(const std::vector<std::string>& grid,
                                                const std::vector<std::string>& not_of_trainings);

}  // namespace sagips::study
