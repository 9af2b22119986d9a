#pragma once
#include "sagips/env/environment.hpp"
#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// The environment with one more feature for each channel and free parameter: a classifier that
/// tells events simulated above a point from those below. For small distances it is proportional to
/// d ln p / d parameter, whose mean tells a parameter as well as the likelihood does. All ranks
/// train the same ones.
/// source: Brehmer, Cranmer, Louppe and Pavez, arXiv 1805.00020, Sec. 2.3
/// cost:   200 steps of a network of some 1,200 weights on 32,768 events, each
/// shapes: unit, errors [free], on the unit scale
env::Environment with_learned_features(const env::Environment& environment,
                                       const torch::Tensor& unit, const torch::Tensor& errors,
                                       const SolveContext& context);

}  // namespace sagips::optim
