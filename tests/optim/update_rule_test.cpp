#include "sagips/optim/learn/update_rule.hpp"

#include <gtest/gtest.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim.h>

#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/random.hpp"

namespace sagips::optim {
namespace {

nn::Replica replica_of(std::int64_t weights) {
  return nn::Replica({{"weights", {weights}, 1, false}}, nn::SharedPart::all, torch::kCPU);
}

void set(const torch::Tensor& tensor, const std::vector<float>& values) {
  torch::NoGradGuard no_grad;
  tensor.copy_(torch::tensor(values));
}

// source: Kingma and Ba, algorithm 1
TEST(Adam, EqualsAHandCalculationOfTwoSteps) {
  nn::Replica replica = replica_of(2);
  set(replica.weights(), {1.0F, -2.0F});
  const auto adam = make_update_rule(
      replica, {.learning_rate = 0.1, .beta1 = 0.5, .beta2 = 0.9, .epsilon = 1e-3});
  std::vector<double> weights = {1.0, -2.0}, mean = {0, 0}, square = {0, 0};
  const std::vector<std::vector<double>> gradients = {{0.3, -4.0}, {-0.7, 2.0}};
  for (int step = 1; step <= 2; ++step) {
    const auto& gradient = gradients[static_cast<std::size_t>(step - 1)];
    set(replica.gradients(), {static_cast<float>(gradient[0]), static_cast<float>(gradient[1])});
    adam->step(0);
    for (std::size_t i = 0; i < 2; ++i) {
      mean[i] = 0.5 * mean[i] + 0.5 * gradient[i];
      square[i] = 0.9 * square[i] + 0.1 * gradient[i] * gradient[i];
      const double corrected_mean = mean[i] / (1 - std::pow(0.5, step));
      const double corrected_square = square[i] / (1 - std::pow(0.9, step));
      weights[i] -= 0.1 * corrected_mean / (std::sqrt(corrected_square) + 1e-3);
      EXPECT_NEAR(replica.weights()[static_cast<std::int64_t>(i)].item<double>(), weights[i], 1e-6)
          << "step " << step;
    }
  }
}

// w <- w - 2 rate d_t + rate d_(t-1) with Adam's direction d; source: Daskalakis et al., algorithm 1
TEST(Adam, EqualsAHandCalculationOfOptimisticSteps) {
  nn::Replica replica = replica_of(2);
  set(replica.weights(), {1.0F, -2.0F});
  const auto adam = make_update_rule(replica, {.learning_rate = 0.1,
                                               .beta1 = 0.5,
                                               .beta2 = 0.9,
                                               .epsilon = 1e-3,
                                               .schedule = UpdateConfig::Schedule::cosine,
                                               .final_rate = 0.2,
                                               .optimistic = true});
  std::vector<double> weights = {1.0, -2.0}, mean = {0, 0}, square = {0, 0}, last = {0, 0};
  const std::vector<std::vector<double>> gradients = {{0.3, -4.0}, {-0.7, 2.0}, {0.1, 0.5}};
  for (int step = 1; step <= 3; ++step) {
    const auto& gradient = gradients[static_cast<std::size_t>(step - 1)];
    set(replica.gradients(), {static_cast<float>(gradient[0]), static_cast<float>(gradient[1])});
    adam->step(0.5);  // where the cosine leaves 0.2 + 0.8 / 2 of the rate
    for (std::size_t i = 0; i < 2; ++i) {
      mean[i] = 0.5 * mean[i] + 0.5 * gradient[i];
      square[i] = 0.9 * square[i] + 0.1 * gradient[i] * gradient[i];
      const double direction = mean[i] / (1 - std::pow(0.5, step)) /
                               (std::sqrt(square[i] / (1 - std::pow(0.9, step))) + 1e-3);
      weights[i] += 0.06 * last[i] - 2 * 0.06 * direction;
      last[i] = direction;
      EXPECT_NEAR(replica.weights()[static_cast<std::int64_t>(i)].item<double>(), weights[i], 1e-6)
          << "step " << step;
    }
  }
  EXPECT_EQ(nn::give_state(*adam).count("direction"), 1U);
}

// min over x, max over y of x y: plain steps circle outwards, optimistic ones come in. With the
// square's memory near 1 the denominators of both hardly differ.
TEST(Adam, ComesToRestInABilinearGameOnlyWhenOptimistic) {
  const auto distance_after = [](bool optimistic) {
    nn::Replica x = replica_of(1), y = replica_of(1);
    set(x.weights(), {1.0F});
    set(y.weights(), {1.0F});
    const UpdateConfig config{.learning_rate = 0.02,
                              .beta1 = 0,
                              .beta2 = 0.9999,
                              .epsilon = 1e-3,
                              .optimistic = optimistic};
    const auto first = make_update_rule(x, config), second = make_update_rule(y, config);
    for (int step = 0; step < 3000; ++step) {
      x.gradients().copy_(y.weights());
      y.gradients().copy_(-x.weights());
      first->step(0);
      second->step(0);
    }
    return std::hypot(x.weights().item<double>(), y.weights().item<double>());
  };
  EXPECT_LT(distance_after(true), 0.3) << "from 1.4";
  EXPECT_GT(distance_after(false), 1.0);
}

TEST(Adam, LeavesGradientsAndViewsInPlace) {
  nn::Replica replica = replica_of(2);
  const auto adam = make_update_rule(replica, {.learning_rate = 0.1});
  set(replica.gradients(), {1.0F, 1.0F});
  adam->step(0);
  EXPECT_EQ(replica.gradients()[0].item<float>(), 1.0F);
  EXPECT_LT(replica.leaves().tensors[0][0].item<float>(), 0.0F) << "the leaf sees the new weight";
  replica.check_views();
}

// The first step of Adam is the rate itself, against the gradient's sign.
TEST(Adam, LowersItsRateAlongACosine) {
  for (const auto& [progress, share] :
       {std::pair(0.0, 1.0), std::pair(0.25, 0.2 + 0.4 * (1 + std::sqrt(0.5))), std::pair(0.5, 0.6),
        std::pair(1.0, 0.2)}) {
    nn::Replica replica = replica_of(1);
    const auto adam = make_update_rule(
        replica,
        {.learning_rate = 0.01, .schedule = UpdateConfig::Schedule::cosine, .final_rate = 0.2});
    set(replica.gradients(), {5.0F});
    adam->step(progress);
    EXPECT_NEAR(replica.weights().item<double>(), -0.01 * share, 1e-8) << progress;
  }
}

TEST(Adam, KeepsItsRateUnlessToldOtherwise) {
  nn::Replica replica = replica_of(1);
  const auto adam = make_update_rule(replica, {.learning_rate = 0.01});
  set(replica.gradients(), {5.0F});
  adam->step(1);
  EXPECT_NEAR(replica.weights().item<double>(), -0.01, 1e-8);
}

void three_steps(nn::Replica& replica, UpdateRule& rule) {
  for (const float step : {1.0F, 2.0F, 3.0F}) {
    set(replica.gradients(), {step, 0.1F / step});
    rule.step(0);
  }
}

TEST(Adam, GoesOnFromItsState) {
  const UpdateConfig config = {
      .learning_rate = 0.1, .schedule = UpdateConfig::Schedule::cosine, .final_rate = 0.5};
  nn::Replica straight = replica_of(2), resumed = replica_of(2);
  const auto adam = make_update_rule(straight, config);
  three_steps(straight, *adam);
  const nn::State weights = nn::give_state(straight), moments = nn::give_state(*adam);
  three_steps(straight, *adam);

  const auto fresh = make_update_rule(resumed, config);
  nn::take_state(resumed, weights);
  nn::take_state(*fresh, moments);
  three_steps(resumed, *fresh);
  EXPECT_TRUE(torch::equal(resumed.weights(), straight.weights()));
  EXPECT_EQ(nn::give_state(*fresh).at("steps").item<std::int64_t>(), 6);
}

TEST(Adam, HasAStateBeforeItsFirstStep) {
  nn::Replica replica = replica_of(2);
  const auto adam = make_update_rule(replica, {});
  const nn::State state = nn::give_state(*adam);
  EXPECT_EQ(state.size(), 3U);
  EXPECT_EQ(state.at("steps").item<std::int64_t>(), 0);
  EXPECT_EQ(state.at("mean").sizes(), replica.weights().sizes());
}

// LibTorch's own rules from the same gradients, 100 steps, a falling rate left out.
template <class Peer, class Options>
double distance_from_peer(const UpdateConfig& config, const Options& options) {
  nn::Replica replica = replica_of(50);
  const core::RandomStream stream(1, "gradients of the rules");
  const auto numbers = [&](std::uint32_t step) {
    torch::Tensor values = torch::empty({50});
    stream.at_step(step).uniform(0, 0, {values.data_ptr<float>(), 50});
    return values * 2 - 1;
  };
  torch::NoGradGuard no_grad;
  replica.weights().copy_(numbers(0));
  torch::Tensor weights = replica.weights().clone().requires_grad_();
  Peer peer({weights}, options);
  const auto rule = make_update_rule(replica, config);
  for (std::uint32_t step = 1; step <= 100; ++step) {
    const torch::Tensor gradient = numbers(step);
    weights.mutable_grad() = gradient.clone();
    if (config.clip_norm > 0) torch::nn::utils::clip_grad_norm_({weights}, config.clip_norm);
    replica.gradients().copy_(gradient);
    peer.step();
    rule->step(0);
  }
  return (replica.weights() - weights).abs().max().item<double>();
}

TEST(UpdateRules, AreThoseOfLibTorch) {
  using Rule = UpdateConfig::Rule;
  const double rate = 0.01;
  EXPECT_LT(
      (distance_from_peer<torch::optim::Adam>(
          {.learning_rate = rate}, torch::optim::AdamOptions(rate).betas({0.5, 0.999}).eps(1e-8))),
      1e-6);
  for (const double momentum : {0.0, 0.9}) {
    EXPECT_LT((distance_from_peer<torch::optim::RMSprop>(
                  {.rule = Rule::rmsprop, .learning_rate = rate, .momentum = momentum},
                  torch::optim::RMSpropOptions(rate).alpha(0.9).eps(1e-8).momentum(momentum))),
              1e-6);
    EXPECT_LT((distance_from_peer<torch::optim::RMSprop>(  // with Keras' defaults
                  {.rule = Rule::rmsprop,
                   .learning_rate = rate,
                   .epsilon = 1e-7,
                   .momentum = momentum,
                   .decay = 0.9},
                  torch::optim::RMSpropOptions(rate).alpha(0.9).eps(1e-7).momentum(momentum))),
              1e-6);
    EXPECT_LT((distance_from_peer<torch::optim::SGD>(
                  {.rule = Rule::sgd, .learning_rate = rate, .momentum = momentum},
                  torch::optim::SGDOptions(rate).momentum(momentum))),
              1e-6);
  }
  EXPECT_LT((distance_from_peer<torch::optim::SGD>(
                {.rule = Rule::sgd, .learning_rate = rate, .momentum = 0.9, .nesterov = true},
                torch::optim::SGDOptions(rate).momentum(0.9).nesterov(true))),
            1e-6);
}

// Gradients of these tests are about 4 long.
TEST(UpdateRules, DecayWeightsAndClipGradientsAsThoseOfLibTorch) {
  using Rule = UpdateConfig::Rule;
  const double rate = 0.01;
  for (const double clip : {0.0, 0.5, 4.0}) {
    EXPECT_LT(
        (distance_from_peer<torch::optim::AdamW>(
            {.rule = Rule::adamw, .learning_rate = rate, .weight_decay = 0.3, .clip_norm = clip},
            torch::optim::AdamWOptions(rate).betas({0.5, 0.999}).weight_decay(0.3))),
        1e-6);
    EXPECT_LT((distance_from_peer<torch::optim::Adam>(
                  {.learning_rate = rate, .weight_decay = 0.3, .clip_norm = clip},
                  torch::optim::AdamOptions(rate).betas({0.5, 0.999}).weight_decay(0.3))),
              1e-6);
    EXPECT_LT((distance_from_peer<torch::optim::RMSprop>(
                  {.rule = Rule::rmsprop,
                   .learning_rate = rate,
                   .momentum = 0.9,
                   .weight_decay = 0.3,
                   .clip_norm = clip},
                  torch::optim::RMSpropOptions(rate).alpha(0.9).momentum(0.9).weight_decay(0.3))),
              1e-6);
    for (const bool nesterov : {false, true})
      EXPECT_LT(
          (distance_from_peer<torch::optim::SGD>(
              {.rule = Rule::sgd,
               .learning_rate = rate,
               .momentum = 0.9,
               .nesterov = nesterov,
               .weight_decay = 0.3,
               .clip_norm = clip},
              torch::optim::SGDOptions(rate).momentum(0.9).nesterov(nesterov).weight_decay(0.3))),
          1e-6);
  }
  EXPECT_THROW(make_update_rule(replica_of(1), {.rule = Rule::adamw}), core::ConfigError);
}

// What others read of a gradient, such as an exchange, is not what decay and clipping make of it.
TEST(UpdateRules, LeaveTheGradientAsItIs) {
  nn::Replica replica = replica_of(2);
  const auto rule = make_update_rule(replica, {.weight_decay = 1, .clip_norm = 0.1});
  set(replica.weights(), {1.0F, 2.0F});
  set(replica.gradients(), {3.0F, 4.0F});
  rule->step(0);
  EXPECT_EQ(replica.gradients()[1].item<float>(), 4.0F);
}

// LibTorch has none in C++. source: Zeiler, algorithm 1
TEST(UpdateRules, HasAdadeltaAsItsPaperSays) {
  nn::Replica replica = replica_of(1);
  const auto rule = make_update_rule(replica, {.rule = UpdateConfig::Rule::adadelta,
                                               .learning_rate = 1,
                                               .epsilon = 1e-6,
                                               .weight_decay = 0.2});
  double weight = 0, square = 0, change = 0;
  for (int step = 1; step <= 100; ++step) {
    double gradient = std::sin(step) + 0.3;
    set(replica.gradients(), {static_cast<float>(gradient)});
    rule->step(0);
    gradient += 0.2 * weight;  // decay as PyTorch's Adadelta has it
    square = 0.9 * square + 0.1 * gradient * gradient;
    const double moved = -std::sqrt(change + 1e-6) / std::sqrt(square + 1e-6) * gradient;
    change = 0.9 * change + 0.1 * moved * moved;
    weight += moved;
    EXPECT_NEAR(replica.weights().item<double>(), weight, 1e-6) << "step " << step;
  }
}

double first_step(const UpdateConfig& config, double progress) {
  nn::Replica replica = replica_of(1);
  set(replica.gradients(), {1.0F});
  make_update_rule(replica, config)->step(progress);
  return -replica.weights().item<double>();
}

TEST(UpdateRules, FollowTheirSchedules) {
  using Schedule = UpdateConfig::Schedule;
  UpdateConfig config{.rule = UpdateConfig::Rule::sgd, .learning_rate = 1};
  EXPECT_NEAR(first_step(config, 1), 1, 1e-7) << "constant";
  config.schedule = Schedule::cosine;
  EXPECT_NEAR(first_step(config, 0.5), 0.5, 1e-7) << "a cosine that nobody has said the end of";
  EXPECT_NEAR(first_step(config, 1), 0, 1e-7);
  config.final_rate = 0.2;
  EXPECT_NEAR(first_step(config, 1), 0.2, 1e-7);
  config.schedule = Schedule::steps;
  EXPECT_NEAR(first_step(config, 0.49), 1, 1e-7);
  EXPECT_NEAR(first_step(config, 0.5), 0.1, 1e-7);
  EXPECT_NEAR(first_step(config, 0.75), 0.01, 1e-7);
  config.warm_up = 4;
  EXPECT_NEAR(first_step(config, 0), 0.25, 1e-7);
}

TEST(UpdateRules, LowerTheRateOnAPlateau) {
  nn::Replica replica = replica_of(1);
  const auto rule = make_update_rule(replica, {.rule = UpdateConfig::Rule::sgd,
                                               .learning_rate = 1,
                                               .schedule = UpdateConfig::Schedule::plateau,
                                               .patience = 2});
  const auto step = [&](UpdateRule& moved) {
    set(replica.weights(), {0.0F});
    set(replica.gradients(), {1.0F});
    moved.step(0);
    return -replica.weights().item<double>();
  };
  for (const double metric : {3.0, 2.0, 2.5, 2.0}) rule->observe(metric);
  EXPECT_NEAR(step(*rule), 1, 1e-7) << "two evaluations without a better one";
  rule->observe(2.1);
  EXPECT_NEAR(step(*rule), 0.1, 1e-7);
  const nn::State state = nn::give_state(*rule);
  const auto resumed = make_update_rule(replica, {.rule = UpdateConfig::Rule::sgd,
                                                  .learning_rate = 1,
                                                  .schedule = UpdateConfig::Schedule::plateau,
                                                  .patience = 2});
  nn::take_state(*resumed, state);
  EXPECT_NEAR(step(*resumed), 0.1, 1e-7);
  for (const double metric : {2.1, 2.1, 2.1}) resumed->observe(metric);
  EXPECT_NEAR(step(*resumed), 0.01, 1e-7);
}

TEST(UpdateRules, RefuseWhatTheyDoNotKnow) {
  nn::Replica replica = replica_of(1);
  EXPECT_THROW(make_update_rule(replica, {.nesterov = true}), core::ConfigError);
  EXPECT_THROW(make_update_rule(replica, {.momentum = 0.5}), core::ConfigError);
  EXPECT_THROW(make_update_rule(replica, {.rule = UpdateConfig::Rule::sgd, .optimistic = true}),
               core::ConfigError);
}

}  // namespace
}  // namespace sagips::optim
