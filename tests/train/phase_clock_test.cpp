// Where a loop's time goes: its parts add up, whatever the machine is busy with beside it.
#include "sagips/train/phase_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "sagips/nn/state.hpp"
#include "tests/train/diary.hpp"
#include "tests/train/two_weights.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;
using record::TimeSplit;

void pass(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

double sum_of_parts(const TimeSplit& split) {
  return split.compute_s + split.exchange_s + split.idle_s + split.update_s + split.loading_s +
         split.other_s;
}

/// Keeps what it is told.
class Told final : public core::Tracer {
 public:
  void add(const core::TracedSpan& span) noexcept override { spans.push_back(span); }
  std::vector<core::TracedSpan> spans;
};

TEST(PhaseClock, GivesEachPartItsTimeAndAllOfIt) {
  Told told;
  double waited_s = 0;
  PhaseClock clock(&told, [&] { return waited_s; });
  double total_s = 0;
  for (int step = 1; step <= 5; ++step) {
    clock.begin_step();
    {
      const PhaseClock::Scope drawing(clock, &TimeSplit::loading_s, "draw", step);
      pass(std::chrono::microseconds(200));
    }
    {
      const PhaseClock::Scope computing(clock, &TimeSplit::compute_s, "gradients", step);
      pass(std::chrono::microseconds(300));
      const PhaseClock::Scope polling(clock, &TimeSplit::exchange_s, nullptr);
      pass(std::chrono::microseconds(100));
    }
    {
      const PhaseClock::Scope finishing(clock, &TimeSplit::exchange_s, "exchange finish", step);
      pass(std::chrono::microseconds(500));
      waited_s += 400e-6;
    }
    total_s += clock.end_step(step == 1);
    pass(std::chrono::microseconds(50));
  }
  clock.note_beside();
  const TimeSplit& split = clock.split();
  EXPECT_NEAR(split.total_s, total_s, 1e-12);
  EXPECT_NEAR(sum_of_parts(split), total_s, 1e-12) << "nothing falls between";
  EXPECT_GE(split.loading_s, 5 * 200e-6);
  EXPECT_GE(split.compute_s, 5 * 300e-6);
  EXPECT_GE(split.exchange_s, 5 * 200e-6) << "polls and what was no waiting";
  EXPECT_NEAR(split.idle_s, 5 * 400e-6, 1e-7);
  EXPECT_EQ(split.update_s, 0);
  EXPECT_GE(split.evaluation_s, 5 * 50e-6);
  EXPECT_EQ(std::count_if(told.spans.begin(), told.spans.end(),
                          [](const auto& span) { return span.name == nullptr; }),
            0);
  ASSERT_EQ(told.spans.size(), 5U * 4) << "waiting is a span of its own";
  const core::TracedSpan &call = told.spans[2], &waiting = told.spans[3];
  EXPECT_STREQ(waiting.name, "waiting for ranks");
  EXPECT_EQ(waiting.begin, call.begin);
  EXPECT_LE(waiting.end, call.end);
  EXPECT_EQ(waiting.step, 1);
}

// A clock that says more than a call took is one of other ranks' words.
TEST(PhaseClock, WaitsForNoLongerThanTheCall) {
  double waited_s = 0;
  PhaseClock clock(nullptr, [&] { return waited_s; });
  clock.begin_step();
  {
    const PhaseClock::Scope finishing(clock, &TimeSplit::exchange_s, "exchange finish");
    waited_s += 1000;
  }
  const double step_s = clock.end_step(true);
  EXPECT_LE(clock.split().idle_s, step_s);
  EXPECT_NEAR(clock.split().exchange_s, 0, 1e-12);
}

TEST(PhaseClock, KeepsNothingOfAStepThatWasLeft) {
  PhaseClock clock(nullptr, {});
  clock.begin_step();
  try {
    const PhaseClock::Scope computing(clock, &TimeSplit::compute_s, "gradients");
    throw EpochGivenUp(true);
  } catch (const EpochGivenUp&) {
    clock.note_beside();
  }
  clock.begin_step();
  const double step_s = clock.end_step(true);
  EXPECT_EQ(clock.split().compute_s, 0);
  EXPECT_EQ(clock.split().total_s, step_s);
  EXPECT_EQ(clock.steps().count, 1);
}

TEST(PhaseClock, TellsStepsOfLaterEpochsFromThoseOfTheFirst) {
  PhaseClock clock(nullptr, {});
  std::vector<double> first, later;
  const auto take_steps = [&](int count, bool of_first, std::vector<double>& took) {
    for (int i = 0; i < count; ++i) {
      clock.begin_step();
      pass(std::chrono::microseconds(100 * (i + 1)));
      took.push_back(clock.end_step(of_first));
    }
  };
  const auto expect = [&](const std::vector<double>& took) {
    double mean = 0, squares = 0;
    for (const double s : took) mean += s / static_cast<double>(took.size());
    for (const double s : took) squares += (s - mean) * (s - mean);
    const record::StepTimes steps = clock.steps();
    EXPECT_EQ(steps.count, static_cast<std::int64_t>(took.size()));
    EXPECT_NEAR(steps.mean_s, mean, 1e-12);
    EXPECT_NEAR(steps.spread_s, std::sqrt(squares / static_cast<double>(took.size() - 1)), 1e-9);
    EXPECT_EQ(steps.maximum_s, *std::max_element(took.begin(), took.end()));
    EXPECT_NEAR(steps.first_epoch_s, first[0] + first[1] + first[2], 1e-12);
  };
  take_steps(3, true, first);
  expect(first);
  take_steps(4, false, later);
  expect(later);
}

TEST(PhaseClock, GoesOnFromItsNumbers) {
  PhaseClock before(nullptr, {}), after(nullptr, {}), bare(nullptr, {});
  for (int step = 0; step < 3; ++step) {
    before.begin_step();
    {
      const PhaseClock::Scope updating(before, &TimeSplit::update_s, "update");
      pass(std::chrono::microseconds(100));
    }
    before.end_step(step == 0);
  }
  after.take(before.numbers());
  EXPECT_EQ(after.numbers(), before.numbers());
  EXPECT_EQ(after.split().update_s, before.split().update_s);
  EXPECT_EQ(after.steps().spread_s, before.steps().spread_s);
  bare.take({});
  EXPECT_EQ(bare.split().total_s, 0) << "a state of before they were measured";
}

// The training time and its parts are of the same readings of the clock, before a restart and after.
TEST(Loop, SplitsAllOfItsTime) {
  TwoWeights optimizer(first_then_second);
  Diary diary;
  const LoopConfig config = epochs(20, 5);
  const auto state = [&] {
    Loop loop(config, optimizer, noted_in(diary));
    const LoopResult result = loop.run();
    const TimeSplit& split = loop.phases().split();
    EXPECT_NEAR(split.total_s, result.time_s, 1e-12);
    EXPECT_NEAR(sum_of_parts(split), result.time_s, 1e-12);
    EXPECT_GT(split.compute_s, 0);
    EXPECT_GT(split.update_s, 0);
    EXPECT_GT(split.evaluation_s, 0);
    EXPECT_EQ(split.exchange_s, 0);
    EXPECT_EQ(loop.phases().steps().count, 19) << "the first epoch apart";
    return nn::give_state(loop);
  }();
  Loop again(epochs(25, 5), optimizer, noted_in(diary));
  nn::take_state(again, state);
  const LoopResult result = again.run();
  EXPECT_NEAR(sum_of_parts(again.phases().split()), result.time_s, 1e-9);
  EXPECT_EQ(again.phases().steps().count, 24);
}

}  // namespace
}  // namespace sagips::train
