// When a loop ends and what it tells, with an optimizer whose every number is known.
#include "sagips/train/loop.hpp"

#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "tests/core/message_of.hpp"
#include "tests/train/diary.hpp"
#include "tests/train/two_weights.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;

using Counts = std::vector<std::int64_t>;
using StopKind = record::StopReason::Kind;

TEST(Loop, EndsAfterItsEpochs) {
  TwoWeights optimizer(first_then_second);
  Diary diary;
  const LoopResult result = Loop(epochs(5, 2), optimizer, noted_in(diary)).run();
  EXPECT_EQ(result.epochs, 5);
  EXPECT_EQ(result.reason.text, "all epochs done");
  EXPECT_TRUE(result.complete);
  ASSERT_EQ(diary.epochs.size(), 5U);
  EXPECT_EQ(diary.epochs.front().epoch, 1);
  EXPECT_EQ(diary.epochs.back().epoch, 5);
  EXPECT_GT(diary.epochs.back().events_per_second, 0.0);
  EXPECT_EQ(diary.evaluated_epochs(), (Counts{0, 2, 4, 5})) << "start, every second, end";
  ASSERT_EQ(diary.finished.size(), 1U);
  EXPECT_EQ(diary.finished[0].reason.text, "all epochs done");
  EXPECT_EQ(diary.finished[0].time_s, result.time_s);
}

TEST(LoopConfig, PartsARunForSnapshots) {
  LoopConfig config;
  config.epochs = 100000;
  EXPECT_EQ(config.snapshot_part(0), 0);
  EXPECT_EQ(config.snapshot_part(4999), 0);
  EXPECT_EQ(config.snapshot_part(5000), 1);
  EXPECT_EQ(config.snapshot_part(100000), 20) << "21 with the start";
  config.epochs = 0;  // nobody knows how long it lasts
  EXPECT_EQ(config.snapshot_part(0), 0);
  EXPECT_LT(config.snapshot_part(1000), config.snapshot_part(1200));
  EXPECT_EQ(config.snapshot_part(2000) - config.snapshot_part(1000), 4);
}

TEST(Loop, EvaluatesAnEpochOnce) {
  TwoWeights optimizer(first_then_second);
  Diary at_the_end, stopped;
  Loop(epochs(4, 2), optimizer, noted_in(at_the_end)).run();
  EXPECT_EQ(at_the_end.evaluated_epochs(), (Counts{0, 2, 4}));
  Loop::Callbacks callbacks = noted_in(stopped);
  callbacks.should_stop = [](const record::Evaluated& seen) {
    return record::StopReason(StopKind::early_stop, seen.epoch == 4 ? "enough" : "");
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

// The one of epoch 2 never comes, and nothing is left of it.
TEST(Loop, TellsOfWhichEpochAnEvaluationIsThatComesLater) {
  TwoWeights optimizer(first_then_second);
  Diary diary;
  Loop::Callbacks callbacks = noted_in(diary);
  std::int64_t asked = 0;
  callbacks.evaluate = [&]() -> std::optional<record::Evaluated> {
    ++asked;
    return std::nullopt;
  };
  std::vector<std::int64_t> there{0, 4, 6};
  callbacks.late = [&](bool) -> std::optional<record::Evaluated> {
    if (there.empty() || 2 * asked <= there.front() + 2) return std::nullopt;  // one period later
    record::Evaluated found;
    found.epoch = there.front();
    there.erase(there.begin());
    return found;
  };
  Loop(epochs(8, 2), optimizer, callbacks).run();
  EXPECT_EQ(diary.evaluated_epochs(), (Counts{0, 4}));
}

TEST(Loop, EndsAfterItsMinutes) {
  TwoWeights optimizer(first_then_second);
  LoopConfig config = epochs(0);
  config.minutes = 1e-5;
  Diary diary;
  const LoopResult result = Loop(config, optimizer, noted_in(diary)).run();
  EXPECT_EQ(result.reason.text, "time limit");
  EXPECT_EQ(result.reason.kind, StopKind::time_limit);
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
  EXPECT_EQ(result.reason.text, "interrupted");
  EXPECT_EQ(result.reason.kind, StopKind::interrupted);
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
    return record::StopReason(StopKind::caller, seen.epoch >= 6 ? "good enough" : "");
  };
  const LoopResult result = Loop(epochs(100, 3), optimizer, callbacks).run();
  EXPECT_EQ(result.epochs, 6);
  EXPECT_EQ(result.reason.text, "good enough");
  EXPECT_EQ(result.reason.kind, StopKind::caller);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(asked, (Counts{3, 6})) << "not before the first epoch";
}

TEST(Loop, CallsItsLastEpochTheEndWhateverTheEvaluationSays) {
  TwoWeights optimizer(first_then_second);
  Diary diary;
  Loop::Callbacks callbacks = noted_in(diary);
  callbacks.should_stop = [](const record::Evaluated& seen) {
    return record::StopReason(StopKind::early_stop, seen.epoch == 4 ? "enough" : "");
  };
  EXPECT_EQ(Loop(epochs(4, 2), optimizer, callbacks).run().reason.text, "all epochs done");
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

TEST(Loop, CountsEpochsAndTimeInItsState) {
  TwoWeights optimizer(first_then_second), resumed(first_then_second);
  Loop loop(epochs(7), optimizer, {});
  loop.run();
  const nn::State state = nn::give_state(loop);
  EXPECT_EQ(state.at("step").item<std::int64_t>(), 7);
  EXPECT_GT(state.at("time_s").item<double>(), 0.0);
  Loop next(epochs(9), resumed, {});
  nn::take_state(next, state);
  EXPECT_EQ(next.run().epochs, 9);
  EXPECT_EQ(resumed.tiles.size(), 4U) << "two epochs of two steps were left";
}

}  // namespace
}  // namespace sagips::train
