#include "sagips/optim/learn/adam.hpp"

#include <gtest/gtest.h>

#include <cmath>

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
  Adam adam(replica, {.learning_rate = 0.1, .beta1 = 0.5, .beta2 = 0.9, .epsilon = 1e-3});
  std::vector<double> weights = {1.0, -2.0}, mean = {0, 0}, square = {0, 0};
  const std::vector<std::vector<double>> gradients = {{0.3, -4.0}, {-0.7, 2.0}};
  for (int step = 1; step <= 2; ++step) {
    const auto& gradient = gradients[static_cast<std::size_t>(step - 1)];
    set(replica.gradients(), {static_cast<float>(gradient[0]), static_cast<float>(gradient[1])});
    adam.step(0);
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
  Adam adam(replica, {.learning_rate = 0.1,
                      .beta1 = 0.5,
                      .beta2 = 0.9,
                      .epsilon = 1e-3,
                      .final_rate = 0.2,
                      .optimistic = true});
  std::vector<double> weights = {1.0, -2.0}, mean = {0, 0}, square = {0, 0}, last = {0, 0};
  const std::vector<std::vector<double>> gradients = {{0.3, -4.0}, {-0.7, 2.0}, {0.1, 0.5}};
  for (int step = 1; step <= 3; ++step) {
    const auto& gradient = gradients[static_cast<std::size_t>(step - 1)];
    set(replica.gradients(), {static_cast<float>(gradient[0]), static_cast<float>(gradient[1])});
    adam.step(0.5);  // where the cosine leaves 0.2 + 0.8 / 2 of the rate
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
  EXPECT_EQ(nn::give_state(adam).count("direction"), 1U);
}

// min over x, max over y of x y: plain steps circle outwards, optimistic ones come in. With the
// square's memory near 1 the denominators of both hardly differ.
TEST(Adam, ComesToRestInABilinearGameOnlyWhenOptimistic) {
  const auto distance_after = [](bool optimistic) {
    nn::Replica x = replica_of(1), y = replica_of(1);
    set(x.weights(), {1.0F});
    set(y.weights(), {1.0F});
    const AdamConfig config{.learning_rate = 0.02,
                            .beta1 = 0,
                            .beta2 = 0.9999,
                            .epsilon = 1e-3,
                            .optimistic = optimistic};
    Adam first(x, config), second(y, config);
    for (int step = 0; step < 3000; ++step) {
      x.gradients().copy_(y.weights());
      y.gradients().copy_(-x.weights());
      first.step(0);
      second.step(0);
    }
    return std::hypot(x.weights().item<double>(), y.weights().item<double>());
  };
  EXPECT_LT(distance_after(true), 0.3) << "from 1.4";
  EXPECT_GT(distance_after(false), 1.0);
}

TEST(Adam, LeavesGradientsAndViewsInPlace) {
  nn::Replica replica = replica_of(2);
  Adam adam(replica, {.learning_rate = 0.1});
  set(replica.gradients(), {1.0F, 1.0F});
  adam.step(0);
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
    Adam adam(replica, {.learning_rate = 0.01, .final_rate = 0.2});
    set(replica.gradients(), {5.0F});
    adam.step(progress);
    EXPECT_NEAR(replica.weights().item<double>(), -0.01 * share, 1e-8) << progress;
  }
}

TEST(Adam, KeepsItsRateUnlessToldOtherwise) {
  nn::Replica replica = replica_of(1);
  Adam adam(replica, {.learning_rate = 0.01});
  set(replica.gradients(), {5.0F});
  adam.step(1);
  EXPECT_NEAR(replica.weights().item<double>(), -0.01, 1e-8);
}

void three_steps(nn::Replica& replica, Adam& adam) {
  for (const float step : {1.0F, 2.0F, 3.0F}) {
    set(replica.gradients(), {step, 0.1F / step});
    adam.step(0);
  }
}

TEST(Adam, GoesOnFromItsState) {
  const AdamConfig config = {.learning_rate = 0.1, .final_rate = 0.5};
  nn::Replica straight = replica_of(2), resumed = replica_of(2);
  Adam adam(straight, config);
  three_steps(straight, adam);
  const nn::State weights = nn::give_state(straight), moments = nn::give_state(adam);
  three_steps(straight, adam);

  Adam fresh(resumed, config);
  nn::take_state(resumed, weights);
  nn::take_state(fresh, moments);
  three_steps(resumed, fresh);
  EXPECT_TRUE(torch::equal(resumed.weights(), straight.weights()));
  EXPECT_EQ(nn::give_state(fresh).at("steps").item<std::int64_t>(), 6);
}

TEST(Adam, HasAStateBeforeItsFirstStep) {
  nn::Replica replica = replica_of(2);
  Adam adam(replica, {});
  const nn::State state = nn::give_state(adam);
  EXPECT_EQ(state.size(), 3U);
  EXPECT_EQ(state.at("steps").item<std::int64_t>(), 0);
  EXPECT_EQ(state.at("mean").sizes(), replica.weights().sizes());
}

}  // namespace
}  // namespace sagips::optim
