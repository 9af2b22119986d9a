#pragma once
#include <cstdint>

#include "sagips/env/compare/event_distance.hpp"
#include "sagips/optim/solver.hpp"

namespace sagips::optim {

/// Finds parameters by gradient descent on the distance between events: no network, the parameters'
/// logits are the weights. The fastest method for pipelines with a gradient.
///
/// Several starts walk side by side; after each quarter of the steps the better half goes on. Every
/// step draws new events, so the answer is that of the distance's mean, not of one draw; the falling
/// learning rate averages over the steps. The score that is reported is taken with one fixed draw.
///
/// collective: with several ranks all walk alike, along the mean of the ranks' gradients
/// source:     Adam: Kingma and Ba, ICLR 2015
/// throws:     ConfigError when the score has no gradient
class Direct final : public Solver {
 public:
  struct Config {
    std::int64_t starts = 8;
    std::int64_t steps = 400;
    double learning_rate = 0.1;  ///< first one [logit]

    void fields(core::FieldList& list);
  };

  Direct(const Config& config, env::EventDistance::Config distance);
  Solution solve(const env::Environment& environment, const SolveContext& context) const override;

 private:
  Config config_;
  env::EventDistance::Config distance_;
};

}  // namespace sagips::optim
