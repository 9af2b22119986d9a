#pragma once
#include "sagips/optim/gan/gan.hpp"
#include "sagips/optim/moments/moments.hpp"

namespace sagips::optim {

/// Lets a generator begin at the solution of the moments, its proposals scattered by that solution's
/// covariance. What follows tests what the moments miss.
///
/// Ranks add up their events through the context, so all begin alike. collective
/// returns: the solution, for its errors and its chi2
Solution warm_start(Gan& gan, const env::Environment& environment, const MomentsConfig& config,
                    SolveContext context);

}  // namespace sagips::optim
