#include "sagips/optim/adam.hpp"

#include <cmath>
#include <numbers>

namespace sagips::optim {

void AdamConfig::fields(core::FieldList& list) {
  list.add("learning_rate", learning_rate, "step size", core::Range::positive());
  list.add("beta1", beta1, "memory of the gradient's mean (authors' tool kit: 0.5)",
           core::Range{0, 1, false, true});
  list.add("beta2", beta2, "memory of the gradient's square (authors' tool kit: 0.999)",
           core::Range{0, 1, false, true});
  list.add("epsilon", epsilon, "smallest denominator", core::Range::positive());
  list.add("final_rate", final_rate,
           "share of the learning rate left at the last epoch, reached along a cosine; 1: constant",
           core::Range::between(0, 1));
}

Adam::Adam(const nn::Replica& replica, AdamConfig config)
    : config_(config),
      weights_(replica.weights()),
      gradients_(replica.gradients()),
      mean_(torch::zeros_like(weights_)),
      square_(torch::zeros_like(weights_)) {}

void Adam::step(double progress) {
  // rate = rate_0 (f + (1 - f) (1 + cos(pi t)) / 2)
  const double share = config_.final_rate +
                       (1 - config_.final_rate) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
  torch::NoGradGuard no_grad;
  const torch::Tensor steps = torch::full({}, static_cast<double>(++steps_),
                                          torch::dtype(torch::kFloat32).device(weights_.device()));
  at::_fused_adam_({weights_}, {gradients_}, {mean_}, {square_}, {}, {steps},
                   config_.learning_rate * share, config_.beta1, config_.beta2,
                   /*weight_decay=*/0, config_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

void Adam::state(nn::StateList& list) {
  list.field("steps", steps_);
  list.field("mean", mean_);
  list.field("square", square_);
}

}  // namespace sagips::optim
