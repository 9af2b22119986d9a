#pragma once
#include <cstdint>
#include <memory>

#include "sagips/core/random.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/env/parameter.hpp"
#include "sagips/env/pipeline.hpp"

namespace sagips::env {

/// The number of random numbers that an event takes, the larger of a pipeline's two forms.
std::int64_t noise_dimensions(const Pipeline& pipeline, const ParameterSet& parameters);

enum class DrawKind { sobol, pseudo_random };

/// One draw for every sample and call: scores then differ by the parameter vectors alone.
/// dimensions: of `noise_dimensions`; 0 will do
std::shared_ptr<const NoiseSource> common_draw(DrawKind kind, std::int64_t events,
                                               std::int64_t dimensions,
                                               const core::RandomStream& stream);

}  // namespace sagips::env
