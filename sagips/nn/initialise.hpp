#pragma once
#include "sagips/core/random.hpp"
#include "sagips/nn/replica.hpp"

namespace sagips::nn {

/// Kaiming-normal weights, zero biases: weights N(0, 2 / ((1 + slope^2) fan_in)).
///
/// Each tensor draws from its own sample number of the stream, so a layer's numbers do not depend
/// on the others. source: He et al., ICCV 2015, eq. (15); the SAGIPS paper names it for both
/// networks
void initialise_kaiming_normal(Replica& replica, double negative_slope,
                               const core::RandomStream& stream);

/// Weights and biases uniform in +- 1 / sqrt(fan_in), as PyTorch's layers begin; what has
/// initial values at these. Each tensor draws from its own sample number of the stream.
void initialise_uniform(Replica& replica, const core::RandomStream& stream);

}  // namespace sagips::nn
