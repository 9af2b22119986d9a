#pragma once
#include <cstdint>
#include <string>

#include "sagips/core/config/config.hpp"

namespace sagips::study {

/// What `sagips closure` repeats.
struct ClosureConfig {
  std::int64_t experiments = 100;
  std::string method = "moments";  ///< a solver, or "gan"
  std::int64_t members = 4;        ///< networks of an experiment that differ by their seeds
  std::int64_t bootstraps = 4;     ///< networks of an experiment on data drawn again; 0: none
  void fields(core::FieldList& list);
};

}  // namespace sagips::study
