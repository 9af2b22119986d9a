#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/simulate/scenario.hpp"

namespace sagips::study {

/// What `sagips simulate` lets run on a simulated cluster.
struct SimulateConfig {
  std::vector<std::string> exchanges;  ///< empty: all that can run there
  /// The exchanges that are simulated tensor by tensor as well: the paper's way.
  std::vector<std::string> unfused = {"ring", "arar_arar", "rma_arar_arar"};
  std::vector<std::int64_t> ranks = {4, 8, 20, 40, 100, 200, 400};
  std::string platform = "polaris";
  std::int64_t epochs = 0;   ///< 0: as many as a pattern needs
  std::int64_t at_once = 0;  ///< 0: the cores
  simulate::ScenarioConfig scenario;
  double paper_gain = 40;    ///< of the unfused ring from 4 to 400 ranks
  std::string compute_from;  ///< a run folder
  bool stragglers = true;
  std::int64_t straggler_ranks = 40;
  std::vector<std::int64_t> seeds = {1, 2, 3};  ///< of trainings, with --convergence
  std::int64_t as_floats = 51206;               ///< whose messages those take; 0: their own

  void fields(core::FieldList& list);
};

}  // namespace sagips::study
