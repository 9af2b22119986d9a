#pragma once
#include <string>

#include "sagips/core/log.hpp"
#include "sagips/study/simulated/simulate.hpp"

namespace sagips::study {

/// Writes files, figures and tables of what simulations have shown, `end.outcome`, and says in `end` what
/// a person should see. throws: StorageError, also where figures find no room
void write_simulation(const run::Job& job, const std::string& folder, const SimulatePlan& plan,
                      SimulateEnd& end, core::Log& log);

}  // namespace sagips::study
