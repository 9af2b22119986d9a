#include "sagips/optim/learn/weight_average.hpp"

#include <cmath>

namespace sagips::optim {

WeightAverage::WeightAverage(const nn::Replica& replica, double memory)
    : replica_(&replica), memory_(memory), mean_(torch::zeros_like(replica.weights())) {}

void WeightAverage::add() {
  torch::NoGradGuard no_grad;
  const double share = (1 - memory_) / (1 - std::pow(memory_, static_cast<double>(++steps_)));
  mean_.lerp_(replica_->weights(), share);
}

torch::Tensor WeightAverage::weights() const { return steps_ > 0 ? mean_ : replica_->weights(); }

nn::Leaves WeightAverage::leaves() const { return replica_->leaves_over(weights()); }

void WeightAverage::state(nn::StateList& list) {
  list.field("mean", mean_);
  list.field("steps", steps_);
}

}  // namespace sagips::optim
