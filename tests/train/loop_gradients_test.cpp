// What a loop does around gradients and updates: hooks of an exchange, numbers that are not finite.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/train/loop.hpp"
#include "tests/core/message_of.hpp"
#include "tests/train/diary.hpp"
#include "tests/train/two_weights.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;

// What the hooks see, with the weight of the step's network at that time: it moves in between.
std::string hooks_of(const std::vector<Action>& schedule) {
  TwoWeights optimizer(schedule);
  std::string calls;
  const auto note = [&](const char* hook) {
    return [&, hook](optim::UpdateStep& step) {
      const bool moved = step.replica->weights().item<double>() != 5;
      calls += core::text(hook, " ", step.name, moved ? " moved; " : "; ");
    };
  };
  Loop::Callbacks callbacks;
  callbacks.exchange.gradients_ready = [&](optim::UpdateStep& step) { note("ready")(step); };
  callbacks.exchange.before_update = [&](optim::UpdateStep& step) {
    note("before")(step);
    return true;
  };
  callbacks.exchange.after_update = note("after");
  callbacks.exchange.poll = [&] { calls += "poll; "; };
  Loop(epochs(1), optimizer, callbacks).run();
  return calls;
}

TEST(Loop, CallsTheHooksOfAnExchangeAroundGradientsAndUpdates) {
  EXPECT_EQ(hooks_of(first_then_second),
            "poll; ready first; before first; after first moved; "
            "poll; ready second; before second; after second moved; ");
  EXPECT_EQ(hooks_of(second_inside_first),
            "poll; ready first; poll; ready second; before second; after second moved; "
            "before first; after first moved; ");
}

TEST(Loop, UpdatesFromWhatAnExchangeLeavesInTheGradients) {
  TwoWeights optimizer(first_then_second);
  Loop::Callbacks callbacks;
  callbacks.exchange.before_update = [](optim::UpdateStep& step) {
    for (float& gradient : step.replica->shared_gradients()) gradient = -gradient;
    return true;
  };
  Loop(epochs(1), optimizer, callbacks).run();
  EXPECT_NEAR(optimizer.weight(0), 5.01, 1e-6) << "against the loss's own gradient";
}

TEST(Loop, TellsTheUpdateHowMuchOfTheRunIsOver) {
  TwoWeights optimizer(first_then_second);
  Loop(epochs(2), optimizer, {}).run();
  // "second" has a constant gradient, so each step of its Adam is its rate: full, then 3/4 of it
  EXPECT_NEAR(optimizer.weight(1), 5 - 0.02 * (1 + 0.75), 1e-6);
}

class NonFiniteGradient : public ::testing::TestWithParam<float> {};

TEST_P(NonFiniteGradient, EndsTheRunWhereTheConfigSaysStop) {
  TwoWeights optimizer(first_then_second);
  optimizer.broken_epoch = 3;
  optimizer.breakage = GetParam();
  optimizer.steps()[0].keys.optimizer = "first.optimizer";
  Diary diary;
  Loop::Callbacks callbacks = noted_in(diary);
  callbacks.remedy = "look at the rows";
  Loop loop(epochs(10), optimizer, callbacks);
  const std::string message = message_of<core::Error>([&] { loop.run(); });
  EXPECT_EQ(message.find("epoch 3: the gradient of the first is not finite"), 0U) << message;
  EXPECT_NE(
      message.find("Lower first.optimizer.learning_rate, set first.optimizer.clip_norm, look at "
                   "the rows, or set train.non_finite=skip."),
      std::string::npos)
      << message;
  EXPECT_EQ(message.find("parameter"), std::string::npos) << "it has none: " << message;
  EXPECT_EQ(diary.epochs.size(), 2U);
  EXPECT_TRUE(std::isfinite(optimizer.weight(0)));
  ASSERT_EQ(diary.finished.size(), 1U);
  EXPECT_EQ(diary.finished[0].epochs, 2);
  EXPECT_FALSE(diary.finished[0].complete);
  EXPECT_EQ(diary.finished[0].reason.text, "failed: " + message);
}

TEST_P(NonFiniteGradient, SkipsOneUpdateWhereTheConfigSaysSkip) {
  TwoWeights optimizer(first_then_second), untouched(first_then_second);
  optimizer.broken_epoch = 3;
  optimizer.breakage = GetParam();
  LoopConfig config = epochs(10);
  config.non_finite = NonFinite::skip;
  Diary diary;
  const LoopResult result = Loop(config, optimizer, noted_in(diary)).run();
  EXPECT_EQ(result.epochs, 10);
  ASSERT_EQ(diary.warnings.size(), 1U);
  EXPECT_EQ(diary.warnings[0].epoch, 3);
  EXPECT_NE(diary.warnings[0].message.find("update of the first skipped"), std::string::npos);
  Loop(epochs(10), untouched, {}).run();
  EXPECT_EQ(optimizer.weight(1), untouched.weight(1)) << "the other network went on";
  EXPECT_TRUE(std::isfinite(optimizer.weight(0)));
  EXPECT_GT(optimizer.weight(0), untouched.weight(0)) << "one step behind";
  EXPECT_LT(optimizer.weight(0), 5 - 8 * 0.009);
}

INSTANTIATE_TEST_SUITE_P(Values, NonFiniteGradient,
                         ::testing::Values(std::numeric_limits<float>::quiet_NaN(),
                                           std::numeric_limits<float>::infinity()),
                         [](const auto& value) {
                           return std::string(std::isnan(value.param) ? "NaN" : "Infinity");
                         });

}  // namespace
}  // namespace sagips::train
