#pragma once
#include <optional>

#include "sagips/env/environment.hpp"
#include "sagips/optim/moments/moments_config.hpp"
#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// What events that are all equal, such as counts of zero, say of the one free parameter: where the pipeline
/// makes such events most often, with sides or a limit from -2 N ln of how often. Means of features say
/// nothing there, as nothing in the data varies. Nothing where events differ, where more parameters are free,
/// on several ranks, or where the pipeline makes no such events.
std::optional<Solution> solution_of_equal_events(const env::Environment& environment,
                                                 const MomentsConfig& config,
                                                 const SolveContext& context);

}  // namespace sagips::optim
