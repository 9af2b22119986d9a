#include "sagips/core/poll.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace sagips::core {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// However long the last one took: rests end.
void poll_until(const std::function<bool()>& done) {
  while (!done()) poll();
}

TEST(Poll, DoesWhatTheInnermostScopeSays) {
  EXPECT_FALSE(is_polled());
  poll();
  int outer = 0, inner = 0;
  const std::function<void()> count_outer = [&] { ++outer; }, count_inner = [&] { ++inner; };
  const PollScope first(count_outer);
  poll_until([&] { return outer == 2; });
  {
    const PollScope second(count_inner);
    poll_until([&] { return inner == 2; });
    const std::function<void()> nothing;
    const PollScope third(nothing);
    EXPECT_FALSE(is_polled());
  }
  EXPECT_EQ(outer, 2);
  poll_until([&] { return outer == 3; });
}

TEST(Poll, RestsForTwentyTimesAsLongAsItTook) {
  int count = 0;
  const std::function<void()> slow = [&] {
    ++count;
    std::this_thread::sleep_for(4ms);
  };
  const PollScope scope(slow);
  poll_until([&] { return count == 1; });
  const auto since = Clock::now();
  poll_until([&] { return count == 2; });
  EXPECT_GE(Clock::now() - since, 80ms);
}

TEST(Poll, RestsForATenthOfASecondAtMost) {
  EXPECT_EQ(rest_after(0ns), 0ns);
  EXPECT_EQ(rest_after(1ms), 20ms);
  EXPECT_EQ(rest_after(1s), 100ms);
}

TEST(Poll, IsOfItsThread) {
  int count = 0;
  const std::function<void()> counts = [&] { ++count; };
  const PollScope scope(counts);
  std::thread([] {
    EXPECT_FALSE(is_polled());
    poll();
  }).join();
  EXPECT_EQ(count, 0);
}

TEST(Poll, KeepsWhatWasThrownUntilTheComputationMayBeLeft) {
  int count = 0;
  const std::function<void()> fails = [&] {
    ++count;
    throw std::runtime_error("stop");
  };
  const PollScope scope(fails);
  poll_until([&] { return count == 1; });
  for (int k = 0; k < 1000; ++k) poll();
  EXPECT_EQ(count, 1);
  EXPECT_THROW(scope.rethrow(), std::runtime_error);
}

}  // namespace
}  // namespace sagips::core
