#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"

namespace sagips::study {

/// How `sagips ensemble` varies and starts its members.
struct EnsembleConfig {
  enum class Vary { seeds, bootstrap, both };
  std::int64_t members = 20;      ///< of each variant and kind
  Vary vary = Vary::seeds;        ///< both: `members` of either kind
  std::vector<std::string> grid;  ///< {"generator.width=32,64", "batch.samples=16,32"}
  std::int64_t ranks = 1;         ///< of each member
  std::string launcher = "mpirun -n {ranks}";
  std::int64_t at_once = 0;  ///< 0: as the cores allow
  std::int64_t draws = 300;  ///< sub-ensembles of each size
  void fields(core::FieldList& list);
};

}  // namespace sagips::study
