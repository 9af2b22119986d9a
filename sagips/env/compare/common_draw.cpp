#include "sagips/env/compare/common_draw.hpp"

#include <algorithm>

#include "sagips/env/noise/noise_sobol.hpp"

namespace sagips::env {

std::int64_t noise_dimensions(const Pipeline& pipeline, const ParameterSet& parameters) {
  torch::NoGradGuard no_grad;
  const torch::Tensor middle =
      parameters.physical_from_unit(torch::full({1, parameters.free_size()}, 0.5F));
  const auto source = std::make_shared<PhiloxNoise>(core::RandomStream(0, "noise dimensions"));
  Noise training(source, 1, 2), inference(source, 1, 2);
  pipeline(middle, training);
  pipeline.infer(middle, inference);
  return std::max(training.dimensions(), inference.dimensions());
}

std::shared_ptr<const NoiseSource> common_draw(DrawKind kind, std::int64_t events,
                                               std::int64_t dimensions,
                                               const core::RandomStream& stream) {
  std::shared_ptr<const NoiseSource> source;
  if (kind == DrawKind::sobol && dimensions > 0)
    source = std::make_shared<SobolNoise>(events, dimensions, stream);
  else
    source = std::make_shared<PhiloxNoise>(stream);
  return std::make_shared<CommonNoise>(source);
}

}  // namespace sagips::env
