#pragma once
#include <cstdint>

#include "sagips/data/torch.hpp"
#include "sagips/nn/replica.hpp"
#include "sagips/nn/state.hpp"

namespace sagips::optim {

/// Exponential running mean of a replica's weights: a_t = a_(t-1) + (1 - b) / (1 - b^t) (w_t -
/// a_(t-1)).
///
/// The denominator makes the t weights so far add up to 1, so the random start never counts. Two
/// networks that circle around their equilibrium are nearer to it on average.
/// source: Yazici et al., ICLR 2019 (arXiv 1806.04498); the denominator as in Adam
class WeightAverage {
 public:
  WeightAverage(const nn::Replica& replica, double memory);

  /// Takes in the replica's present weights.
  void add();
  /// The mean, for evaluating the network; before the first `add` the weights themselves.
  nn::Leaves leaves() const;
  /// Laid out as the replica's. shape: [size]
  torch::Tensor weights() const;
  void state(nn::StateList& list);

 private:
  const nn::Replica* replica_;
  double memory_;
  torch::Tensor mean_;
  std::int64_t steps_ = 0;
};

}  // namespace sagips::optim
