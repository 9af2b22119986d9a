#include "sagips/optim/learn/adam.hpp"

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
  list.add("optimistic", optimistic,
           "extrapolates from the last step, w - 2 rate d_t + rate d_(t-1), which damps circles "
           "around the equilibrium (Daskalakis et al., ICLR 2018); false: plain Adam");
}

Adam::Adam(const nn::Replica& replica, AdamConfig config)
    : config_(config),
      weights_(replica.weights()),
      gradients_(replica.gradients()),
      mean_(torch::zeros_like(weights_)),
      square_(torch::zeros_like(weights_)) {
  if (config_.optimistic) direction_ = torch::zeros_like(weights_);
}

void Adam::step(double progress) {
  // rate = rate_0 (f + (1 - f) (1 + cos(pi t)) / 2)
  const double share = config_.final_rate +
                       (1 - config_.final_rate) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
  torch::NoGradGuard no_grad;
  ++steps_;
  if (config_.optimistic) return step_optimistically(config_.learning_rate * share);
  const torch::Tensor steps = torch::full({}, static_cast<double>(steps_),
                                          torch::dtype(torch::kFloat32).device(weights_.device()));
  at::_fused_adam_({weights_}, {gradients_}, {mean_}, {square_}, {}, {steps},
                   config_.learning_rate * share, config_.beta1, config_.beta2,
                   /*weight_decay=*/0, config_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

void Adam::step_optimistically(double rate) {
  const auto t = static_cast<double>(steps_);
  mean_.lerp_(gradients_, 1 - config_.beta1);
  square_.mul_(config_.beta2).addcmul_(gradients_, gradients_, 1 - config_.beta2);
  // d = (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
  const torch::Tensor scale =
      (square_ / (1 - std::pow(config_.beta2, t))).sqrt_().add_(config_.epsilon);
  const torch::Tensor direction = (mean_ / (1 - std::pow(config_.beta1, t))).div_(scale);
  weights_.sub_(direction, 2 * rate).add_(direction_, rate);
  direction_.copy_(direction);
}

void Adam::state(nn::StateList& list) {
  list.field("steps", steps_);
  list.field("mean", mean_);
  list.field("square", square_);
  if (config_.optimistic) list.field("direction", direction_);
}

}  // namespace sagips::optim
