#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sagips/optim/learn/optimizer.hpp"

namespace sagips::testing {

using optim::Action;

/// Two networks of one weight each. The loss of "first" is the sum of w^2 over samples, that of
/// "second" the sum of 3 w; both are shares of the batch. Its batches are empty but for their size.
class TwoWeights final : public optim::Optimizer {
 public:
  explicit TwoWeights(std::vector<Action> schedule, std::int64_t samples = 8)
      : schedule_(std::move(schedule)), samples_(samples) {
    for (std::size_t i = 0; i < 2; ++i) {
      nn::Replica& replica = replicas_[i];
      torch::NoGradGuard no_grad;
      replica.weights().fill_(5);
      optim::UpdateStep step;
      step.name = i == 0 ? "first" : "second";
      step.replica = &replica;
      step.rule = rules_[i].get();
      optim::Pass pass;
      pass.name = step.name;
      pass.steps = {i};
      pass.loss_names = {step.name};
      pass.gradients = [this, i](optim::Batch& batch, const optim::Tile& tile,
                                 std::span<nn::Leaves* const> leaves) {
        return gradients(i, batch, tile, *leaves[0]);
      };
      steps_.push_back(std::move(step));
      passes_.push_back(std::move(pass));
    }
  }

  std::unique_ptr<optim::Batch> draw(std::uint32_t step) const override {
    auto batch = std::make_unique<optim::Batch>();
    batch->step = step;
    batch->samples = samples_;
    batch->events = 3;
    return batch;
  }
  std::vector<optim::UpdateStep>& steps() override { return steps_; }
  std::vector<optim::Pass>& passes() override { return passes_; }
  std::vector<Action> schedule() const override { return schedule_; }
  void state(nn::StateList& list) override {
    for (std::size_t i = 0; i < 2; ++i) list.part(steps_[i].name, replicas_[i]);
  }

  double weight(std::size_t i) const { return replicas_[i].weights().item<double>(); }
  nn::Replica& replica(std::size_t i) { return replicas_[i]; }

  std::vector<optim::Tile> tiles;  ///< in the order they were asked for
  std::int64_t broken_epoch = 0;   ///< in which the gradient of "first" is not finite
  float breakage = std::numeric_limits<float>::quiet_NaN();

 private:
  torch::Tensor gradients(std::size_t i, const optim::Batch& batch, const optim::Tile& tile,
                          nn::Leaves& leaves) {
    tiles.push_back(tile);
    const double share = static_cast<double>(tile.samples) / static_cast<double>(batch.samples);
    const torch::Tensor weight = leaves.tensors[0];
    torch::Tensor loss = (i == 0 ? weight.square() : weight * 3).sum() * share;
    if (i == 0 && batch.step == broken_epoch) loss = loss * breakage;
    loss.backward({}, {}, false, leaves.tensors);
    return loss.detach().to(torch::kFloat64).reshape({1});
  }

  static nn::Replica one_weight() {
    return nn::Replica({{"weight", {1}, 1, false}}, nn::SharedPart::all, torch::kCPU);
  }

  std::vector<Action> schedule_;
  std::int64_t samples_;
  nn::Replica replicas_[2] = {one_weight(), one_weight()};
  std::unique_ptr<optim::UpdateRule> rules_[2] = {
      optim::make_update_rule(replicas_[0], {.learning_rate = 0.01}),
      optim::make_update_rule(replicas_[1], {.learning_rate = 0.02,
                                             .schedule = optim::UpdateConfig::Schedule::cosine,
                                             .final_rate = 0.5})};
  std::vector<optim::UpdateStep> steps_;
  std::vector<optim::Pass> passes_;
};

constexpr auto gradients = Action::Kind::gradients;
constexpr auto update = Action::Kind::update;
inline const std::vector<Action> first_then_second = {
    {gradients, 0}, {update, 0}, {gradients, 1}, {update, 1}};
inline const std::vector<Action> second_inside_first = {
    {gradients, 0}, {gradients, 1}, {update, 1}, {update, 0}};

}  // namespace sagips::testing
