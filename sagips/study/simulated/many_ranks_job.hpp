#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/run/settings.hpp"
#include "sagips/simulate/platform.hpp"
#include "sagips/simulate/scenario.hpp"

namespace sagips::study {

/// One training among simulated ranks: what the program that simulates it is given.
struct ManyRanksJob {
  std::string source;                    ///< as `sagips train` takes it
  std::vector<std::string> assignments;  ///< a.b=c
  std::int64_t ranks = 4;
  /// Messages take the time that a network of so many shared floats would need; 0: their own.
  std::int64_t as_floats = 51206;
  simulate::PlatformConfig platform;
  simulate::ScenarioConfig scenario;

  void fields(core::FieldList& list);
};

/// Whether the scenario has its straggler, and overlaps as the training does. throws: ConfigError
void check_scenario(const ManyRanksJob& job, const optim::GanConfig& training);

/// A platform on which `floats` take the time that `as_floats` take on the given one.
simulate::PlatformConfig for_small_arrays(simulate::PlatformConfig platform, std::int64_t floats,
                                          std::int64_t as_floats);

}  // namespace sagips::study
