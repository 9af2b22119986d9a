// The loop and its engine, turned with an optimizer whose every number is known.
#include "sagips/train/loop.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::train {
namespace {

using optim::Action;
using testing::message_of;

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
      step.adam = &adams_[i];
      step.loss_names = {step.name};
      step.gradients = [this, i](optim::Batch& batch, const optim::Tile& tile, nn::Leaves& leaves) {
        return gradients(i, batch, tile, leaves);
      };
      steps_.push_back(std::move(step));
    }
  }

  optim::Batch draw(std::uint32_t epoch) const override {
    optim::Batch batch;
    batch.epoch = epoch;
    batch.samples = samples_;
    batch.events = 3;
    return batch;
  }
  std::vector<optim::UpdateStep>& steps() override { return steps_; }
  std::vector<Action> schedule() const override { return schedule_; }
  torch::Tensor predict(std::int64_t rows) override { return torch::zeros({rows, 1}); }
  void state(nn::StateList& list) override {
    for (std::size_t i = 0; i < 2; ++i) list.part(steps_[i].name, replicas_[i]);
  }

  double weight(std::size_t i) const { return replicas_[i].weights().item<double>(); }
  nn::Replica& replica(std::size_t i) { return replicas_[i]; }

  std::vector<optim::Tile> tiles;  ///< in the order they were asked for
  std::int64_t broken_epoch = 0;   ///< in which the gradient of "first" is not finite
  float breakage = std::numeric_limits<float>::quiet_NaN();

 private:
  std::vector<double> gradients(std::size_t i, const optim::Batch& batch, const optim::Tile& tile,
                                nn::Leaves& leaves) {
    tiles.push_back(tile);
    const double share = static_cast<double>(tile.samples) / static_cast<double>(batch.samples);
    const torch::Tensor weight = leaves.tensors[0];
    torch::Tensor loss = (i == 0 ? weight.square() : weight * 3).sum() * share;
    if (i == 0 && batch.epoch == broken_epoch) loss = loss * breakage;
    loss.backward({}, {}, false, leaves.tensors);
    return {loss.item<double>()};
  }

  static nn::Replica one_weight() {
    return nn::Replica({{"weight", {1}, 1, false}}, nn::SharedPart::all, torch::kCPU);
  }

  std::vector<Action> schedule_;
  std::int64_t samples_;
  nn::Replica replicas_[2] = {one_weight(), one_weight()};
  optim::Adam adams_[2] = {{replicas_[0], {.learning_rate = 0.01}},
                           {replicas_[1], {.learning_rate = 0.02, .final_rate = 0.5}}};
  std::vector<optim::UpdateStep> steps_;
};

constexpr auto gradients = Action::Kind::gradients;
constexpr auto update = Action::Kind::update;
const std::vector<Action> first_then_second = {
    {gradients, 0}, {update, 0}, {gradients, 1}, {update, 1}};
const std::vector<Action> second_inside_first = {
    {gradients, 0}, {gradients, 1}, {update, 1}, {update, 0}};

LoopConfig epochs(std::int64_t count, std::int64_t evaluate_every = 0) {
  LoopConfig config;
  config.epochs = count;
  config.evaluate_every = evaluate_every;
  return config;
}

/// Writes down what a loop tells its observers.
struct Diary {
  std::vector<record::EpochDone> epochs;
  std::vector<record::Evaluated> evaluations;
  std::vector<record::Warning> warnings;
  std::vector<record::RunFinished> finished;

  record::Observer observer() {
    return [this](const record::Event& event) {
      if (const auto* done = std::get_if<record::EpochDone>(&event)) epochs.push_back(*done);
      if (const auto* seen = std::get_if<record::Evaluated>(&event)) evaluations.push_back(*seen);
      if (const auto* warning = std::get_if<record::Warning>(&event)) warnings.push_back(*warning);
      if (const auto* end = std::get_if<record::RunFinished>(&event)) finished.push_back(*end);
    };
  }
  std::vector<std::int64_t> evaluated_epochs() const {
    std::vector<std::int64_t> all;
    for (const auto& seen : evaluations) all.push_back(seen.epoch);
    return all;
  }
};

Loop::Callbacks noted_in(Diary& diary) {
  Loop::Callbacks callbacks;
  callbacks.observers = {diary.observer()};
  callbacks.evaluate = [] { return record::Evaluated{}; };
  return callbacks;
}

using Counts = std::vector<std::int64_t>;

TEST(Loop, EndsAfterItsEpochs) {
  TwoWeights optimizer(first_then_second);
  Diary diary;
  const LoopResult result = Loop(epochs(5, 2), optimizer, noted_in(diary)).run();
  EXPECT_EQ(result.epochs, 5);
  EXPECT_EQ(result.reason, "all epochs done");
  EXPECT_TRUE(result.complete);
  ASSERT_EQ(diary.epochs.size(), 5U);
  EXPECT_EQ(diary.epochs.front().epoch, 1);
  EXPECT_EQ(diary.epochs.back().epoch, 5);
  EXPECT_GT(diary.epochs.back().events_per_second, 0.0);
  EXPECT_EQ(diary.evaluated_epochs(), (Counts{0, 2, 4, 5})) << "start, every second, end";
  ASSERT_EQ(diary.finished.size(), 1U);
  EXPECT_EQ(diary.finished[0].reason, "all epochs done");
  EXPECT_EQ(diary.finished[0].time_s, result.time_s);
}

TEST(Loop, EvaluatesAnEpochOnce) {
  TwoWeights optimizer(first_then_second);
  Diary at_the_end, stopped;
  Loop(epochs(4, 2), optimizer, noted_in(at_the_end)).run();
  EXPECT_EQ(at_the_end.evaluated_epochs(), (Counts{0, 2, 4}));
  Loop::Callbacks callbacks = noted_in(stopped);
  callbacks.should_stop = [](const record::Evaluated& seen) {
    return seen.epoch == 4 ? std::string("enough") : std::string();
  };
  Loop(epochs(10, 2), optimizer, callbacks).run();
  EXPECT_EQ(stopped.evaluated_epochs(), (Counts{0, 2, 4}));
}

TEST(Loop, EvaluatesFiftyTimesUnlessToldOtherwise) {
  TwoWeights optimizer(first_then_second);
  Diary diary;
  Loop(epochs(100), optimizer, noted_in(diary)).run();
  ASSERT_EQ(diary.evaluations.size(), 51U);
  EXPECT_EQ(diary.evaluations[1].epoch, 2);
}

TEST(Loop, EndsAfterItsMinutes) {
  TwoWeights optimizer(first_then_second);
  LoopConfig config = epochs(0);
  config.minutes = 1e-5;
  Diary diary;
  const LoopResult result = Loop(config, optimizer, noted_in(diary)).run();
  EXPECT_EQ(result.reason, "time limit");
  EXPECT_TRUE(result.complete);
  EXPECT_GE(result.time_s, 6e-4);
  EXPECT_GE(result.epochs, 1);
}

TEST(Loop, EndsBetweenEpochsWhenInterrupted) {
  TwoWeights optimizer(first_then_second);
  Diary diary;
  Loop::Callbacks callbacks = noted_in(diary);
  callbacks.interrupted = [&] { return diary.epochs.size() >= 3; };
  const LoopResult result = Loop(epochs(100), optimizer, callbacks).run();
  EXPECT_EQ(result.epochs, 3);
  EXPECT_EQ(result.reason, "interrupted");
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(diary.evaluated_epochs().back(), 3) << "its state is evaluated";
  EXPECT_FALSE(diary.finished.at(0).complete);
}

TEST(Loop, StopsEarlyForTheGivenReason) {
  TwoWeights optimizer(first_then_second);
  Diary diary;
  Loop::Callbacks callbacks = noted_in(diary);
  std::vector<std::int64_t> asked;
  callbacks.should_stop = [&](const record::Evaluated& seen) {
    asked.push_back(seen.epoch);
    return seen.epoch >= 6 ? std::string("good enough") : std::string();
  };
  const LoopResult result = Loop(epochs(100, 3), optimizer, callbacks).run();
  EXPECT_EQ(result.epochs, 6);
  EXPECT_EQ(result.reason, "good enough");
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(asked, (Counts{3, 6})) << "not before the first epoch";
}

TEST(Loop, CallsItsLastEpochTheEndWhateverTheEvaluationSays) {
  TwoWeights optimizer(first_then_second);
  Diary diary;
  Loop::Callbacks callbacks = noted_in(diary);
  callbacks.should_stop = [](const record::Evaluated& seen) {
    return seen.epoch == 4 ? std::string("enough") : std::string();
  };
  EXPECT_EQ(Loop(epochs(4, 2), optimizer, callbacks).run().reason, "all epochs done");
}

TEST(Loop, WantsALimit) {
  TwoWeights optimizer(first_then_second);
  EXPECT_NE(message_of<core::ConfigError>([&] {
              Loop(epochs(0), optimizer, {});
            }).find("Set train.epochs or train.minutes"),
            std::string::npos);
}

TEST(Loop, ReportsTheLossesOfAllStepsInTheirOrder) {
  TwoWeights optimizer(second_inside_first);
  Diary diary;
  Loop(epochs(1), optimizer, noted_in(diary)).run();
  const auto& losses = diary.epochs.at(0).losses;
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_EQ(losses[0].name, "first");
  EXPECT_NEAR(losses[0].value, 25, 1e-5);
  EXPECT_EQ(losses[1].name, "second");
  EXPECT_NEAR(losses[1].value, 15, 1e-5);
}

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
  callbacks.exchange.gradients_ready = note("ready");
  callbacks.exchange.before_update = note("before");
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
  Diary diary;
  Loop loop(epochs(10), optimizer, noted_in(diary));
  const std::string message = message_of<core::Error>([&] { loop.run(); });
  EXPECT_EQ(message.find("epoch 3: the gradient of the first is not finite"), 0U) << message;
  EXPECT_EQ(diary.epochs.size(), 2U);
  EXPECT_TRUE(std::isfinite(optimizer.weight(0)));
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

TEST(Loop, CountsEpochsAndTimeInItsState) {
  TwoWeights optimizer(first_then_second), resumed(first_then_second);
  Loop loop(epochs(7), optimizer, {});
  loop.run();
  const nn::State state = nn::give_state(loop);
  EXPECT_EQ(state.at("epoch").item<std::int64_t>(), 7);
  EXPECT_GT(state.at("time_s").item<double>(), 0.0);
  Loop next(epochs(9), resumed, {});
  nn::take_state(next, state);
  EXPECT_EQ(next.run().epochs, 9);
  EXPECT_EQ(resumed.tiles.size(), 4U) << "two epochs of two steps were left";
}

std::vector<std::int64_t> tile_sizes(std::int64_t samples, std::int64_t tile_samples,
                                     bool separable) {
  TwoWeights optimizer(first_then_second, samples);
  optimizer.steps()[0].separable = separable;
  optim::Batch batch = optimizer.draw(1);
  std::int64_t polls = 0;
  const std::vector<double> losses =
      Engine({tile_samples}).gradients(optimizer.steps()[0], batch, [&] { ++polls; });
  EXPECT_NEAR(losses.at(0), 25, 1e-4);
  EXPECT_NEAR(optimizer.replica(0).gradients().item<double>(), 10, 1e-4) << "d w^2 / dw at 5";
  std::vector<std::int64_t> sizes;
  std::int64_t next = 0;
  for (const optim::Tile& tile : optimizer.tiles) {
    EXPECT_EQ(tile.index, static_cast<std::int64_t>(sizes.size()));
    EXPECT_EQ(tile.first, next);
    next += tile.samples;
    sizes.push_back(tile.samples);
  }
  EXPECT_EQ(polls, static_cast<std::int64_t>(sizes.size()));
  return sizes;
}

TEST(Engine, CutsASeparableBatchIntoTiles) {
  EXPECT_EQ(tile_sizes(8, 3, true), (Counts{3, 3, 2}));
  EXPECT_EQ(tile_sizes(8, 4, true), (Counts{4, 4}));
  EXPECT_EQ(tile_sizes(8, 64, true), (Counts{8}));
  EXPECT_EQ(tile_sizes(8, 3, false), (Counts{8})) << "another loss runs whole";
}

TEST(Engine, ForgetsTheGradientsOfTheEpochBefore) {
  TwoWeights optimizer(first_then_second);
  optim::Batch batch = optimizer.draw(1);
  for (int repeat = 0; repeat < 2; ++repeat) Engine({4}).gradients(optimizer.steps()[1], batch, {});
  EXPECT_NEAR(optimizer.replica(1).gradients().item<double>(), 3, 1e-6);
}

}  // namespace
}  // namespace sagips::train
