#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/nn/replica.hpp"
#include "sagips/nn/state.hpp"

namespace sagips::optim {

/// How gradients move the weights of a network.
struct UpdateConfig {
  enum class Rule { adam, adamw, rmsprop, sgd, adadelta };
  enum class Schedule { constant, cosine, steps, plateau };
  Rule rule = Rule::adam;
  double learning_rate = 1e-4;
  double beta1 = 0.5, beta2 = 0.999;
  double epsilon = 1e-8;
  double momentum = 0;
  bool nesterov = false;
  double decay = 0.9;
  double weight_decay = 0;
  double clip_norm = 0;  ///< of a network's gradient; 0: none is clipped
  Schedule schedule = Schedule::constant;
  double final_rate = 0;                   ///< share of the learning rate that a cosine leaves
  std::vector<double> drop_at{0.5, 0.75};  ///< shares of the run
  double drop_factor = 0.1;
  std::int64_t patience = 5;            ///< evaluations
  std::int64_t warm_up = 0;             ///< updates
  std::int64_t batches_per_update = 1;  ///< whose gradients are one mean: the loop collects them
  bool optimistic = false;

  void fields(core::FieldList& list);
  /// That it keeps, of as many numbers as there are weights.
  int arrays() const {
    return (rule == Rule::sgd ? 1 : 2) + (optimistic ? 1 : 0) + (batches_per_update > 1 ? 1 : 0);
  }
  bool waits_for_plateau() const { return schedule == Schedule::plateau; }
  /// place: the keys' prefix, for messages. throws: ConfigError for what the rule does not know
  void check(const std::string& place) const;

 private:
  void rule_fields(core::FieldList& list);
  void schedule_fields(core::FieldList& list);
};

/// Moves a replica's flat weights by its flat gradients.
///
/// source: Adam: Kingma and Ba, ICLR 2015, algorithm 1. Optimistic Adam, w - 2 rate d_t + rate
///         d_(t-1) with d the direction of a plain step and d_0 = 0, goes where the direction seems
///         to be heading, which damps the circles that two players run around their equilibrium:
///         Daskalakis et al., ICLR 2018, algorithm 1. RMSprop: Tieleman and Hinton, 2012, with
///         epsilon outside the root, as PyTorch has it. SGD with momentum and Nesterov's form: Sutskever
///         et al., ICML 2013, as PyTorch has it. Adadelta: Zeiler, arXiv 1212.5701, algorithm 1. AdamW:
///         Loshchilov and Hutter, ICLR 2019, algorithm 2, its decay times the learning rate, as PyTorch
///         has it. Clipping: Pascanu et al., ICML 2013, as PyTorch has it, before weight decay
class UpdateRule {
 public:
  UpdateRule(torch::Tensor weights, torch::Tensor gradients, const UpdateConfig& config);
  virtual ~UpdateRule() = default;
  UpdateRule(const UpdateRule&) = delete;
  UpdateRule& operator=(const UpdateRule&) = delete;

  /// One update from the replica's gradients. progress: share of the run that is over, 0 to 1.
  void step(double progress) {
    begin_step(progress);
    finish_step();
  }
  /// The two halves of a step: what counts it and finds its rate, on the CPU, and what moves the weights, which may
  /// be in a graph where `looks_at_gradients` holds.
  void begin_step(double progress);
  void finish_step();
  /// The same by these gradients, from now on. shape: of the weights
  void step_by(torch::Tensor gradients, double progress);
  /// Tells a schedule that waits for a plateau the metric of an evaluation; smaller is better.
  void observe(double metric);
  void state(nn::StateList& list);
  /// Whether a field of the state belongs to a schedule that waits for a plateau.
  static bool is_of_schedule(const std::string& field);
  /// Whether a gradient that is not finite leaves the weights alone by itself, so that nobody has to look at it
  /// before: our own passes on a GPU do, of Adam and plain RMSprop.
  bool looks_at_gradients() const { return on_gpu_ != nullptr; }
  /// Where such a gradient becomes known: 1 from then on, and no rule that shares the flag moves weights any more.
  /// shape: int32 [1], on the GPU
  void share_flag(const torch::Tensor& flag);
  /// Steps that have left the weights alone. Waits for the GPU.
  std::int64_t lost_steps() const;
  const UpdateConfig& config() const { return config_; }
  double last_rate() const { return last_rate_; }  ///< of the last update; 0 before the first

 protected:
  /// One update with that learning rate by the gradient, clipped and with its weight decay; `steps_`
  /// counts it already.
  virtual void move(const torch::Tensor& gradient, double rate) = 0;
  virtual void own_state(nn::StateList& list) = 0;
  torch::Tensor zeros() const { return torch::zeros_like(weights_); }
  /// Makes `on_gpu` the way of a rule whose passes there are; called by its constructor.
  void use_gpu();
  bool is_on_gpu() const { return on_gpu_ != nullptr; }
  void* counts_on_gpu() const;  ///< a sagips_cuda_update

  const UpdateConfig config_;
  torch::Tensor weights_, gradients_;  ///< flat arrays of others
  std::int64_t steps_ = 0;

 private:
  /// What the passes on a GPU read and count there.
  struct OnGpu {
    torch::Tensor counts, flag;  ///< a sagips_cuda_update; what it points to
    float rate = 0;              ///< that is there
  };
  double rate(double progress) const;
  torch::Tensor gradient() const;
  void tell_gpu();

  std::unique_ptr<OnGpu> on_gpu_;  ///< null: LibTorch's operations move the weights
  double last_rate_ = 0;
  double plateau_factor_ = 1, best_;
  std::int64_t since_best_ = 0;  ///< evaluations
};

/// place: as in `UpdateConfig::check`
std::unique_ptr<UpdateRule> make_update_rule(const nn::Replica& replica, const UpdateConfig& config,
                                             const std::string& place = "optimizer");
/// A rule for a flat array that stays where it is. gradients: undefined for who gives them to `step_by`
std::unique_ptr<UpdateRule> make_update_rule(const torch::Tensor& weights,
                                             const torch::Tensor& gradients,
                                             const UpdateConfig& config);

}  // namespace sagips::optim
