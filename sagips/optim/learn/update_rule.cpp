#include "sagips/optim/learn/update_rule.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/nn/device_library.hpp"

namespace sagips::optim {

using core::Range;

void UpdateConfig::rule_fields(core::FieldList& list) {
  list.choice("rule", rule,
              {{"adam", Rule::adam},
               {"adamw", Rule::adamw},
               {"rmsprop", Rule::rmsprop},
               {"sgd", Rule::sgd},
               {"adadelta", Rule::adadelta}},
              "how gradients move weights");
  list.add("learning_rate", learning_rate, "step size", Range::positive());
  list.add("beta1", beta1, "Adam: memory of the gradient's mean (authors' tool kit: 0.5)",
           Range{0, 1, false, true});
  list.add("beta2", beta2, "Adam: memory of the gradient's square (authors' tool kit: 0.999)",
           Range{0, 1, false, true});
  list.add("epsilon", epsilon,
           "smallest denominator of Adam, RMSprop and Adadelta (Adadelta usually: 1e-6)",
           Range::positive());
  list.add("momentum", momentum, "SGD and RMSprop: memory of earlier steps",
           Range{0, 1, false, true});
  list.add("nesterov", nesterov, "SGD: looks ahead along the momentum");
  list.add("decay", decay, "RMSprop and Adadelta: memory of the gradient's square",
           Range{0, 1, false, true});
  list.add(
      "weight_decay", weight_decay,
      "pulls all weights, biases too, to 0: this share of the learning rate in each update with "
      "adamw (usually 0.01); elsewhere this times the weights is added to the gradient; 0: none",
      Range::at_least(0));
  list.add("clip_norm", clip_norm,
           "longest gradient of the network (of several networks, of each by itself), after the "
           "exchange between ranks; a longer one is shortened to it; 0: none",
           Range::at_least(0));
}

void UpdateConfig::schedule_fields(core::FieldList& list) {
  list.choice("schedule", schedule,
              {{"constant", Schedule::constant},
               {"cosine", Schedule::cosine},
               {"steps", Schedule::steps},
               {"plateau", Schedule::plateau}},
              "how the learning rate changes: not at all, along a cosine to final_rate, by "
              "drop_factor at each of drop_at, or by drop_factor where evaluations stop getting "
              "better");
  list.add("final_rate", final_rate,
           "share of the learning rate left at the last epoch (schedule=cosine)",
           Range::between(0, 1));
  list.add("drop_at", drop_at, "shares of the run after which the rate drops (schedule=steps)",
           Range{0, 1, true, true});
  list.add("drop_factor", drop_factor, "what a drop multiplies the rate with",
           Range{0, 1, true, false});
  list.add("patience", patience,
           "evaluations without a better metric (early_stop.metric) before the rate drops "
           "(schedule=plateau)",
           Range::at_least(1));
  list.add("warm_up", warm_up,
           "first updates, over which the rate rises evenly to its full size; 0: none",
           Range::at_least(0));
  list.add("batches_per_update", batches_per_update,
           "batches whose gradients are averaged, row by row, for one update and one exchange "
           "between ranks; fewer at a run's end wait for it to go on",
           Range::between(1, 1000000));
}

void UpdateConfig::fields(core::FieldList& list) {
  rule_fields(list);
  schedule_fields(list);
  list.add(
      "optimistic", optimistic,
      "Adam extrapolates from the last step, w - 2 rate d_t + rate d_(t-1), which damps circles "
      "around the equilibrium (Daskalakis et al., ICLR 2018)");
  core::needs(list, rule == Rule::adam || rule == Rule::adamw, "rule=adam or adamw",
              {"beta1", "beta2"});
  core::needs(list, rule != Rule::sgd, "rule=adam, adamw, rmsprop or adadelta", {"epsilon"});
  core::needs(list, rule == Rule::rmsprop || rule == Rule::adadelta, "rule=rmsprop or adadelta",
              {"decay"});
  core::needs(list, schedule == Schedule::cosine, "schedule=cosine", {"final_rate"});
  core::needs(list, schedule == Schedule::steps, "schedule=steps", {"drop_at"});
  core::needs(list, schedule == Schedule::plateau, "schedule=plateau", {"patience"});
  core::needs(list, schedule == Schedule::steps || schedule == Schedule::plateau,
              "schedule=steps or plateau", {"drop_factor"});
}

void UpdateConfig::check(const std::string& place) const {
  if (optimistic && rule != Rule::adam)
    throw core::ConfigError(place + ".optimistic", "only Adam has this form. Set rule=adam.");
  if (nesterov && (rule != Rule::sgd || momentum == 0))
    throw core::ConfigError(place + ".nesterov",
                            "looks ahead along the momentum of SGD. Set rule=sgd and a momentum.");
  if (momentum > 0 && rule != Rule::sgd && rule != Rule::rmsprop)
    throw core::ConfigError(place + ".momentum",
                            "only SGD and RMSprop have it (Adam has beta1). Set it to 0.");
  if (rule == Rule::adamw && weight_decay == 0)
    throw core::ConfigError(
        place + ".weight_decay",
        "is 0, and adamw without it is adam. Set one (usually 0.01), or rule=adam.");
}

namespace {

class Adam final : public UpdateRule {
 public:
  Adam(const torch::Tensor& weights, const torch::Tensor& gradients, const UpdateConfig& config)
      : UpdateRule(weights, gradients, config) {
    if (config_.optimistic) direction_ = zeros();
    if (!config_.optimistic && config_.rule == UpdateConfig::Rule::adam) use_gpu();
  }

 private:
  // LibTorch's form makes one sweep over the weights.
  void move(const torch::Tensor& gradient, double rate) override {
    if (config_.optimistic) return move_optimistically(gradient, rate);
    if (is_on_gpu())
      return nn::on_device(weights_.device(), &nn::DeviceLibrary::adam, weights_.data_ptr<float>(),
                           gradient.data_ptr<float>(), mean_.data_ptr<float>(),
                           square_.data_ptr<float>(), weights_.numel(), config_.beta1,
                           config_.beta2, config_.epsilon,
                           static_cast<sagips_cuda_update*>(counts_on_gpu()));
    const torch::Tensor steps = torch::full(
        {}, static_cast<double>(steps_), torch::dtype(torch::kFloat32).device(weights_.device()));
    at::_fused_adam_({weights_}, {gradient}, {mean_}, {square_}, {}, {steps}, rate, config_.beta1,
                     config_.beta2,
                     /*weight_decay=*/0, config_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  }

  void move_optimistically(const torch::Tensor& gradient, double rate) {
    const auto t = static_cast<double>(steps_);
    mean_.lerp_(gradient, 1 - config_.beta1);
    square_.mul_(config_.beta2).addcmul_(gradient, gradient, 1 - config_.beta2);
    // d = (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
    const torch::Tensor scale =
        (square_ / (1 - std::pow(config_.beta2, t))).sqrt_().add_(config_.epsilon);
    const torch::Tensor direction = (mean_ / (1 - std::pow(config_.beta1, t))).div_(scale);
    weights_.sub_(direction, 2 * rate).add_(direction_, rate);
    direction_.copy_(direction);
  }

  void own_state(nn::StateList& list) override {
    list.field("mean", mean_);
    list.field("square", square_);
    if (config_.optimistic) list.field("direction", direction_);
  }

  torch::Tensor mean_ = zeros(), square_ = zeros();  ///< running ones of the gradient
  torch::Tensor direction_;  ///< of the last step; undefined unless optimistic
};

class Rmsprop final : public UpdateRule {
 public:
  Rmsprop(const torch::Tensor& weights, const torch::Tensor& gradients, const UpdateConfig& config)
      : UpdateRule(weights, gradients, config) {
    if (config_.momentum == 0) use_gpu();
  }

 private:
  void move(const torch::Tensor& gradient, double rate) override {
    if (is_on_gpu())
      return nn::on_device(weights_.device(), &nn::DeviceLibrary::rmsprop,
                           weights_.data_ptr<float>(), gradient.data_ptr<float>(),
                           square_.data_ptr<float>(), weights_.numel(), config_.decay,
                           config_.epsilon, static_cast<sagips_cuda_update*>(counts_on_gpu()));
    square_.mul_(config_.decay).addcmul_(gradient, gradient, 1 - config_.decay);
    const torch::Tensor scale = square_.sqrt().add_(config_.epsilon);
    if (config_.momentum == 0) {
      weights_.addcdiv_(gradient, scale, -rate);
      return;
    }
    velocity_.mul_(config_.momentum).addcdiv_(gradient, scale);
    weights_.sub_(velocity_, rate);
  }

  void own_state(nn::StateList& list) override {
    list.field("square", square_);
    list.field("velocity", velocity_);
  }

  torch::Tensor square_ = zeros(), velocity_ = zeros();
};

class Sgd final : public UpdateRule {
 public:
  using UpdateRule::UpdateRule;

 private:
  void move(const torch::Tensor& gradient, double rate) override {
    if (config_.momentum == 0) {
      weights_.sub_(gradient, rate);
      return;
    }
    velocity_.mul_(config_.momentum).add_(gradient);
    weights_.sub_(config_.nesterov ? gradient + velocity_ * config_.momentum : velocity_, rate);
  }

  void own_state(nn::StateList& list) override { list.field("velocity", velocity_); }

  torch::Tensor velocity_ = zeros();
};

class Adadelta final : public UpdateRule {
 public:
  using UpdateRule::UpdateRule;

 private:
  void move(const torch::Tensor& gradient, double rate) override {
    square_.mul_(config_.decay).addcmul_(gradient, gradient, 1 - config_.decay);
    const torch::Tensor step = (change_ + config_.epsilon)
                                   .sqrt_()
                                   .div_((square_ + config_.epsilon).sqrt_())
                                   .mul_(gradient);
    change_.mul_(config_.decay).addcmul_(step, step, 1 - config_.decay);
    weights_.sub_(step, rate);
  }

  void own_state(nn::StateList& list) override {
    list.field("square", square_);
    list.field("change", change_);
  }

  torch::Tensor square_ = zeros(), change_ = zeros();  ///< running ones of squares
};

}  // namespace

UpdateRule::UpdateRule(torch::Tensor weights, torch::Tensor gradients, const UpdateConfig& config)
    : config_(config),
      weights_(std::move(weights)),
      gradients_(std::move(gradients)),
      best_(std::numeric_limits<double>::infinity()) {}

double UpdateRule::rate(double progress) const {
  double share = 1;
  switch (config_.schedule) {
    case UpdateConfig::Schedule::constant:
      break;
    case UpdateConfig::Schedule::cosine:  // f + (1 - f) (1 + cos(pi t)) / 2
      share = config_.final_rate +
              (1 - config_.final_rate) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
      break;
    case UpdateConfig::Schedule::steps:
      for (const double place : config_.drop_at)
        if (progress >= place) share *= config_.drop_factor;
      break;
    case UpdateConfig::Schedule::plateau:
      share = plateau_factor_;
      break;
  }
  if (steps_ < config_.warm_up)
    share *= static_cast<double>(steps_) / static_cast<double>(config_.warm_up);
  return config_.learning_rate * share;
}

// What others see of the gradient stays as it is.
torch::Tensor UpdateRule::gradient() const {
  torch::Tensor own = gradients_;
  if (config_.clip_norm > 0) {
    constexpr double smallest_norm = 1e-6;  // as PyTorch
    own = own * (config_.clip_norm / (own.norm() + smallest_norm)).clamp_max(1);
  }
  const bool is_decoupled = config_.rule == UpdateConfig::Rule::adamw;
  return is_decoupled || config_.weight_decay == 0 ? own : own.add(weights_, config_.weight_decay);
}

void UpdateRule::use_gpu() {
  if (nn::device_library(weights_.device()) == nullptr) return;
  on_gpu_ = std::make_unique<OnGpu>();
  share_flag(torch::zeros({1}, torch::dtype(torch::kInt32).device(weights_.device())));
}

void UpdateRule::share_flag(const torch::Tensor& flag) {
  const sagips_cuda_update counts{static_cast<float>(on_gpu_->rate),
                                  static_cast<std::uint32_t>(steps_),
                                  static_cast<std::uint32_t*>(flag.data_ptr())};
  torch::Tensor bytes = torch::empty({sizeof(counts)}, torch::kUInt8);
  std::memcpy(bytes.data_ptr(), &counts, sizeof(counts));
  on_gpu_->flag = flag;
  if (on_gpu_->counts.defined())
    on_gpu_->counts.copy_(bytes);  // graphs know where they are
  else
    on_gpu_->counts = bytes.to(weights_.device());
}

void* UpdateRule::counts_on_gpu() const { return on_gpu_->counts.data_ptr(); }

std::int64_t UpdateRule::lost_steps() const {
  sagips_cuda_update counts{};
  const torch::Tensor bytes = on_gpu_->counts.cpu();
  std::memcpy(&counts, bytes.const_data_ptr(), sizeof(counts));
  return steps_ - counts.steps;
}

void UpdateRule::tell_gpu() {
  const auto rate = static_cast<float>(last_rate_);
  if (rate == on_gpu_->rate) return;
  on_gpu_->rate = rate;
  on_gpu_->counts.narrow(0, offsetof(sagips_cuda_update, rate), sizeof(rate))
      .view(torch::kFloat32)
      .fill_(rate);
}

void UpdateRule::begin_step(double progress) {
  torch::NoGradGuard no_grad;
  ++steps_;
  last_rate_ = rate(progress);
  if (on_gpu_) tell_gpu();
}

void UpdateRule::finish_step() {
  torch::NoGradGuard no_grad;
  const torch::Tensor own = gradient();
  if (config_.rule == UpdateConfig::Rule::adamw)
    weights_.mul_(1 - last_rate_ * config_.weight_decay);
  move(own, last_rate_);
}

void UpdateRule::step_by(torch::Tensor gradients, double progress) {
  gradients_ = std::move(gradients);
  step(progress);
}

void UpdateRule::observe(double metric) {
  if (!config_.waits_for_plateau()) return;
  if (metric < best_) {
    best_ = metric;
    since_best_ = 0;
  } else if (++since_best_ > config_.patience) {
    plateau_factor_ *= config_.drop_factor;
    since_best_ = 0;
  }
}

void UpdateRule::state(nn::StateList& list) {
  list.field("steps", steps_);
  if (on_gpu_ && !list.gives()) share_flag(on_gpu_->flag.zero_());  // counts go on from there
  own_state(list);
  if (!config_.waits_for_plateau()) return;
  list.field("plateau_factor", plateau_factor_);
  list.field("best", best_);
  list.field("since_best", since_best_);
}

bool UpdateRule::is_of_schedule(const std::string& field) {
  return field == "plateau_factor" || field == "best" || field == "since_best";
}

std::unique_ptr<UpdateRule> make_update_rule(const torch::Tensor& weights,
                                             const torch::Tensor& gradients,
                                             const UpdateConfig& config) {
  switch (config.rule) {
    case UpdateConfig::Rule::rmsprop:
      return std::make_unique<Rmsprop>(weights, gradients, config);
    case UpdateConfig::Rule::sgd:
      return std::make_unique<Sgd>(weights, gradients, config);
    case UpdateConfig::Rule::adadelta:
      return std::make_unique<Adadelta>(weights, gradients, config);
    case UpdateConfig::Rule::adam:
    case UpdateConfig::Rule::adamw:
      break;
  }
  return std::make_unique<Adam>(weights, gradients, config);
}

std::unique_ptr<UpdateRule> make_update_rule(const nn::Replica& replica, const UpdateConfig& config,
                                             const std::string& place) {
  config.check(place);
  return make_update_rule(replica.weights(), replica.gradients(), config);
}

}  // namespace sagips::optim
