#pragma once
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/noise/noise.hpp"

namespace sagips::testing {

/// Given numbers, one tensor [all samples, events] a dimension.
class RecordedNoise final : public env::NoiseSource {
 public:
  explicit RecordedNoise(std::vector<torch::Tensor> dimensions)
      : dimensions_(std::move(dimensions)) {}

  torch::Tensor uniform(std::int64_t first_sample, std::int64_t samples, std::int64_t events,
                        std::int64_t dimension, torch::ScalarType type) const override {
    const auto index = static_cast<std::size_t>(dimension);
    if (index >= dimensions_.size())
      throw core::StateError(core::text("the recorded noise has ", dimensions_.size(),
                                        " dimensions, a stage asks for one more. Record again."));
    const torch::Tensor& all = dimensions_[index];
    if (all.size(0) < first_sample + samples || all.size(1) != events)
      throw core::StateError(core::text("the recorded noise has shape ", all.sizes(), ", samples ",
                                        first_sample, " to ", first_sample + samples, " with ",
                                        events, " events were asked for. Record again."));
    return all.narrow(0, first_sample, samples).to(type);
  }

 private:
  std::vector<torch::Tensor> dimensions_;
};

}  // namespace sagips::testing
