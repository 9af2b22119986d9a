#include "sagips/env/noise/noise_sobol.hpp"

#include <limits>
#include <span>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

namespace {

// of LibTorch's direction numbers
constexpr std::int64_t bits = 30;
constexpr std::int64_t most_dimensions = 21201;
constexpr std::uint64_t range = std::uint64_t{1} << bits;
// The sample number of the matrices' random bits; samples are counted from 0.
constexpr std::uint32_t matrices = std::numeric_limits<std::uint32_t>::max();

void check(std::int64_t events, std::int64_t dimensions) {
  if (dimensions > most_dimensions)
    throw core::ConfigError("noise", core::text(dimensions,
                                                " random numbers an event are more than"
                                                " Sobol points have coordinates (",
                                                most_dimensions, "). Use pseudo_random noise."));
  if (events > static_cast<std::int64_t>(range))
    throw core::ConfigError("noise", core::text(events,
                                                " events a sample are more than there are "
                                                "Sobol points (",
                                                range, "). Use fewer."));
}

// Lower triangular matrices of random bits with ones on the diagonal, one a dimension.
torch::Tensor random_matrices(const core::RandomStream& stream, std::int64_t dimensions) {
  torch::Tensor entries = torch::empty({dimensions, bits, bits}, torch::kInt64);
  for (std::int64_t d = 0; d < dimensions; ++d)
    stream.integers(matrices, static_cast<std::uint32_t>(d), 2,
                    std::span<std::int64_t>(entries.data_ptr<std::int64_t>() + d * bits * bits,
                                            static_cast<std::size_t>(bits * bits)));
  return entries.tril(-1) + torch::eye(bits, torch::kInt64);
}

torch::Tensor sobol_points(const core::RandomStream& stream, std::int64_t events,
                           std::int64_t dimensions) {
  torch::Tensor points = torch::zeros({dimensions, events}, torch::kInt32);
  if (dimensions == 0 || events <= 1) return points;  // the first point is the origin
  torch::Tensor directions = torch::zeros({dimensions, bits}, torch::kInt64);
  at::_sobol_engine_initialize_state_(directions, dimensions);
  at::_sobol_engine_scramble_(directions, random_matrices(stream, dimensions), dimensions);
  const torch::Tensor origin = torch::zeros({dimensions}, torch::kInt64);
  // multiples of 2^-30, so that the product is exact
  const torch::Tensor others = std::get<0>(at::_sobol_engine_draw(origin, events - 1, directions,
                                                                  dimensions, 0, torch::kFloat64)) *
                               static_cast<double>(range);
  points.narrow(1, 1, events - 1).copy_(others.t());
  return points;
}

// Midpoints of the 2^23 or 2^30 intervals: strictly inside (0, 1) in either type.
float to_uniform(std::int32_t point, float) {
  return (static_cast<float>(point >> 7) + 0.5F) * 0x1p-23F;
}
double to_uniform(std::int32_t point, double) {
  return (static_cast<double>(point) + 0.5) * 0x1p-30;
}

template <class Real>
void shift_points(const core::RandomStream& stream, const std::int32_t* points,
                  std::int64_t first_sample, std::int64_t dimension, torch::Tensor& numbers) {
  const std::int64_t events = numbers.size(1);
  for (std::int64_t sample = 0; sample < numbers.size(0); ++sample) {
    std::int64_t shift = 0;
    stream.integers(static_cast<std::uint32_t>(first_sample + sample),
                    static_cast<std::uint32_t>(dimension), range,
                    std::span<std::int64_t>(&shift, 1));
    Real* const row = numbers.data_ptr<Real>() + sample * events;
    for (std::int64_t event = 0; event < events; ++event)
      row[event] = to_uniform(points[event] ^ static_cast<std::int32_t>(shift), Real{});
  }
}

}  // namespace

SobolNoise::SobolNoise(std::int64_t events, std::int64_t dimensions, core::RandomStream stream)
    : stream_(stream) {
  check(events, dimensions);
  points_ = sobol_points(stream, events, dimensions);
}

torch::Tensor SobolNoise::uniform(std::int64_t first_sample, std::int64_t samples,
                                  std::int64_t events, std::int64_t dimension,
                                  torch::ScalarType type) const {
  if (dimension >= points_.size(0))
    throw core::StateError(core::text(
        "a stage takes random number ", dimension + 1, " of an event, the Sobol points have ",
        points_.size(0),
        " coordinates (coordinates must be known beforehand). Let the stage take "
        "as many in every call as in the pipeline's check, or use pseudo_random noise."));
  if (events > points_.size(1))
    throw core::StateError(core::text("there are ", points_.size(1), " Sobol points for ", events,
                                      " events. Make SobolNoise for as many events."));
  torch::Tensor numbers = torch::empty({samples, events}, type);
  const std::int32_t* const points = points_.data_ptr<std::int32_t>() + dimension * points_.size(1);
  if (type == torch::kFloat64)
    shift_points<double>(stream_, points, first_sample, dimension, numbers);
  else
    shift_points<float>(stream_, points, first_sample, dimension, numbers);
  return numbers;
}

torch::Tensor CommonNoise::uniform(std::int64_t, std::int64_t samples, std::int64_t events,
                                   std::int64_t dimension, torch::ScalarType type) const {
  return source_->uniform(0, 1, events, dimension, type).expand({samples, events});
}

}  // namespace sagips::env
