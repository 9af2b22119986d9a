#pragma once
#include <optional>
#include <vector>

#include "sagips/study/simulated/simulation_plan.hpp"

namespace sagips::study {

/// Epoch time of a training whose epochs grow in a straight line with its ranks and which gains
/// `gain` of 100 from 4 to 400 ranks, in units of that at 4 ranks. gain 100: 1 everywhere.
double straight_line(double ranks, double gain);

/// The gain of that training between other numbers of ranks.
double gain_between(double low, double high, double gain);

/// What a config or a run says of the computation of an epoch; empty when neither does.
/// throws: ConfigError, DataError for a run that has no epochs to take times from
std::optional<ComputeTime> given_compute_time(const run::Job& job);

/// The computation c with which the ring, tensor by tensor, gains `simulate.paper_gain`: its epochs
/// take c + t, t simulated. mean_s is 0 where that cannot be had; `origin` says why.
ComputeTime calibrated_compute_time(const run::Job& job, const SimulatePlan& plan,
                                    const std::vector<Simulation>& exchanges);

}  // namespace sagips::study
