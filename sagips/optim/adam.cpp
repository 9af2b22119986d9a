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
    : config_(config), weights_(replica.weights().detach().requires_grad_()) {
  weights_.mutable_grad() = replica.gradients();
  adam_ = std::make_unique<torch::optim::Adam>(std::vector<torch::Tensor>{weights_},
                                               torch::optim::AdamOptions(config.learning_rate)
                                                   .betas({config.beta1, config.beta2})
                                                   .eps(config.epsilon));
  // Its state exists from the start, so that taking a state needs no special case before the first
  // step.
  auto fresh = std::make_unique<torch::optim::AdamParamState>();
  fresh->step(0);
  fresh->exp_avg(torch::zeros_like(replica.weights()));
  fresh->exp_avg_sq(torch::zeros_like(replica.weights()));
  adam_->state()[weights_.unsafeGetTensorImpl()] = std::move(fresh);
}

void Adam::step(double progress) {
  // rate = rate_0 (f + (1 - f) (1 + cos(pi t)) / 2)
  const double share = config_.final_rate +
                       (1 - config_.final_rate) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
  adam_->param_groups()[0].options().set_lr(config_.learning_rate * share);
  adam_->step();
}

void Adam::state(nn::StateList& list) {
  auto& state =
      static_cast<torch::optim::AdamParamState&>(*adam_->state()[weights_.unsafeGetTensorImpl()]);
  std::int64_t steps = state.step();
  list.field("steps", steps);
  state.step(steps);
  list.field("mean", state.exp_avg());
  list.field("square", state.exp_avg_sq());
}

}  // namespace sagips::optim
