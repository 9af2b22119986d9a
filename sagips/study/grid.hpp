#pragma once
#include <string>
#include <vector>

#include "sagips/record/study.hpp"

namespace sagips::study {

/// The points of a grid: the product of its lists, {"a=1,2", "b=x,[y,z]"} -> 4 variants. Commas
/// inside brackets, braces or quotes do not part values. No grid: one variant, "all".
/// not_of_trainings: groups of keys that no training reads
/// throws: ConfigError for a list without key or values, one of such a key, or a point that is there
///         twice
std::vector<record::StudyVariant> grid_variants(const std::vector<std::string>& grid,
                                                const std::vector<std::string>& not_of_trainings);

}  // namespace sagips::study
