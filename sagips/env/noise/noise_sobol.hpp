#pragma once
#include <cstdint>
#include <memory>

#include "sagips/core/random.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/noise/noise.hpp"

namespace sagips::env {

/// Scrambled Sobol points: an event is a point, the dimensions that the stages take are its
/// coordinates. They fill the unit cube more evenly than random numbers, so that means over events
/// scatter less.
///
/// Owen's linear matrix scramble is common to all samples; each sample has a digital shift of its
/// own, so that its points are uniform and its neighbours' are others. Best with a power of two of
/// events. The points are made once and never change.
///
/// cost:   4 bytes an event and dimension; a call reads them once for each sample
/// source: Matousek, J. Complexity 14 (1998) 527; direction numbers of Joe and Kuo (in LibTorch)
/// throws: ConfigError for more dimensions or events than the direction numbers have
class SobolNoise final : public NoiseSource {
 public:
  /// dimensions: what the pipeline takes, PipelineReport::noise_dimensions.
  SobolNoise(std::int64_t events, std::int64_t dimensions, core::RandomStream stream);

  /// throws: StateError for a dimension or an event beyond those it was made for
  torch::Tensor uniform(std::int64_t first_sample, std::int64_t samples, std::int64_t events,
                        std::int64_t dimension, torch::ScalarType type) const override;

 private:
  core::RandomStream stream_;
  torch::Tensor points_;  ///< before the shifts. shape: [dimensions, events], int32
};

/// Gives every sample the numbers that another source has for sample 0 (common random numbers):
/// what tells two samples apart then is their parameters alone.
///
/// The numbers of all samples share memory: a stage that writes into them fails.
class CommonNoise final : public NoiseSource {
 public:
  explicit CommonNoise(std::shared_ptr<const NoiseSource> source) : source_(std::move(source)) {}
  torch::Tensor uniform(std::int64_t first_sample, std::int64_t samples, std::int64_t events,
                        std::int64_t dimension, torch::ScalarType type) const override;

 private:
  std::shared_ptr<const NoiseSource> source_;
};

}  // namespace sagips::env
