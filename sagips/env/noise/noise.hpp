#pragma once
#include <cstdint>
#include <memory>

#include "sagips/core/random.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::env {

/// Where noise numbers come from. Pseudo-random, recorded or quasi-random sources stand in for each
/// other.
class NoiseSource {
 public:
  virtual ~NoiseSource() = default;
  /// Dimension `dimension` of the unit cube of each event, in (0, 1).
  /// shape: [samples, events], for the samples first_sample, first_sample + 1, ...
  virtual torch::Tensor uniform(std::int64_t first_sample, std::int64_t samples,
                                std::int64_t events, std::int64_t dimension,
                                torch::ScalarType type) const = 0;
  /// Several dimensions at once, in float32, made on a GPU: bit for bit those above. Undefined: it cannot.
  /// shape: [samples, dimensions, events]
  virtual torch::Tensor uniform_on(const torch::Device&, std::int64_t /*first_sample*/,
                                   std::int64_t /*samples*/, std::int64_t /*events*/,
                                   std::int64_t /*first_dimension*/,
                                   std::int64_t /*dimensions*/) const {
    return {};
  }
};

/// Counter-based pseudo-random numbers: independent of ranks, threads and tiles.
class PhiloxNoise final : public NoiseSource {
 public:
  explicit PhiloxNoise(core::RandomStream stream) : stream_(stream) {}
  torch::Tensor uniform(std::int64_t first_sample, std::int64_t samples, std::int64_t events,
                        std::int64_t dimension, torch::ScalarType type) const override;
  torch::Tensor uniform_on(const torch::Device& device, std::int64_t first_sample,
                           std::int64_t samples, std::int64_t events, std::int64_t first_dimension,
                           std::int64_t dimensions) const override;

 private:
  core::RandomStream stream_;
};

/// The only randomness a stage may use, so a stage is a pure function of its input and its noise.
///
/// Each call takes the next dimension of every event: one number an event. Passing a copy that was
/// made before repeats the same numbers (common random numbers).
class Noise {
 public:
  Noise(std::shared_ptr<const NoiseSource> source, std::int64_t samples, std::int64_t events,
        std::int64_t first_sample = 0, torch::ScalarType type = torch::kFloat32,
        torch::Device device = torch::kCPU);

  torch::Tensor uniform();  ///< [samples, events] in (0, 1)
  /// So many calls at once. shape: [samples, dimensions, events]
  torch::Tensor uniform(std::int64_t dimensions);
  torch::Tensor normal();  ///< [samples, events], N(0, 1), through the inverse normal distribution

  /// Where numbers are from now on.
  void make_on(const torch::Device& device) { device_ = device; }
  std::int64_t samples() const { return samples_; }
  std::int64_t events() const { return events_; }
  std::int64_t dimensions() const { return next_dimension_; }  ///< taken so far

 private:
  std::shared_ptr<const NoiseSource> source_;
  std::int64_t samples_, events_, first_sample_;
  torch::ScalarType type_;
  torch::Device device_;
  std::int64_t next_dimension_ = 0;
};

}  // namespace sagips::env
