#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"

namespace sagips::study {

/// Which trainings `sagips convergence` compares.
struct ConvergenceConfig {
  enum class Batch { each, divided, both };
  std::vector<std::string> exchanges = {"all_reduce", "arar", "arar_arar", "rma_arar_arar"};
  std::int64_t ranks = 4;                     ///< of each member
  std::int64_t members = 5;                   ///< of each variant
  std::vector<std::int64_t> outer_periods{};  ///< h of the SAGIPS paper, Tab. I; empty: no scan
  std::vector<std::int64_t> over_ranks{};     ///< numbers of ranks; empty: no scan
  Batch batch = Batch::each;                  ///< of the scan over ranks
  std::int64_t redrawn = 300;                 ///< ensembles for the uncertainty of a stop
  void fields(core::FieldList& list);
};

}  // namespace sagips::study
