#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/env/compare/event_distance.hpp"
#include "sagips/env/environment.hpp"

namespace sagips::optim {

/// What a search minimises: how unlike an environment's measured events the synthetic ones of given
/// parameters are, all channels added, with the squared relative deviations of reference numbers.
///
/// All parameter vectors of a call share their noise, and all calls with the same step (common random
/// numbers), so the score is a deterministic and, where the pipeline is, smooth function.
class EventScore {
 public:
  /// Keeps a reference to the environment.
  /// throws: ConfigError when a channel lacks what the distance needs
  EventScore(const env::Environment& environment, const env::EventDistance::Config& config,
             std::uint64_t seed);

  /// Scores through the pipelines' training form; differentiable where they are.
  /// shape: physical [points, parameters] -> [points], float64; another step, other noise
  torch::Tensor operator()(const torch::Tensor& physical, std::uint32_t step) const;
  /// Scores through the pipelines' inference form, without a graph, always with the same Sobol
  /// points. Infinite where a score is not finite.
  torch::Tensor infer(const torch::Tensor& physical) const;

 private:
  enum class Form { training, inference };
  struct Part {
    const env::Channel* channel;
    env::EventDistance distance;
    core::RandomStream noise;
    std::shared_ptr<const env::NoiseSource> draw;  ///< of the inference form
    double weight;                                 ///< 1 in the mean over channels
  };
  torch::Tensor of_part(const Part& part, const torch::Tensor& physical, Form form,
                        std::uint32_t step) const;
  torch::Tensor reference_terms(const Part& part, const torch::Tensor& physical,
                                const env::Events& events) const;

  env::EventDistance::Config config_;
  std::vector<Part> parts_;
};

}  // namespace sagips::optim
