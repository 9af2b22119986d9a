#include "sagips/comm/window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "tests/comm/kit.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::comm::testing {
namespace {

std::vector<float> filled(std::size_t size, std::uint64_t stamp) {
  return std::vector<float>(size, static_cast<float>(stamp));
}

void expect_holds(const Window::View& view, std::size_t size, std::uint64_t stamp) {
  EXPECT_EQ(view.stamp(), stamp);
  ASSERT_EQ(view.values().size(), size);
  for (const float value : view.values()) ASSERT_EQ(value, static_cast<float>(stamp));
}

/// Where the reader sits: beside the writer, or on a node of its own.
class WindowFrom : public ::testing::TestWithParam<std::vector<int>> {};

INSTANTIATE_TEST_SUITE_P(Nodes, WindowFrom,
                         ::testing::Values(std::vector<int>{0, 0, 0}, std::vector<int>{0, 1, 2}),
                         [](const auto& nodes) {
                           return nodes.param[1] == 0 ? std::string("TheSameNode")
                                                      : std::string("AnotherNode");
                         });

TEST_P(WindowFrom, ShowsNothingBeforeTheFirstPut) {
  on_threads({.ranks = 3, .nodes = GetParam()}, [](Kit& kit) {
    Window window(kit.communicator, 5);
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(window.get(rank).stamp(), 0U);
      EXPECT_TRUE(window.get(rank).values().empty());
    }
  });
}

TEST_P(WindowFrom, ShowsWhatEachRankHasPut) {
  on_threads({.ranks = 3, .nodes = GetParam()}, [](Kit& kit) {
    const auto rank = static_cast<std::uint64_t>(kit.communicator.rank());
    for (const std::size_t floats : {0U, 1U, 16U, 1001U}) {
      Window window(kit.communicator, floats);
      EXPECT_TRUE(window.put(filled(floats, 10 + rank), 10 + rank));
      kit.barrier();
      for (int other = 0; other < 3; ++other) {
        const auto number = static_cast<std::uint64_t>(other);
        expect_holds(window.get(other), floats, 10 + number);
      }
      kit.barrier();
    }
  });
}

TEST_P(WindowFrom, KeepsWhatAViewShowsWhileItIsHeld) {
  on_threads({.ranks = 3, .nodes = GetParam()}, [](Kit& kit) {
    Window window(kit.communicator, 300);
    if (kit.communicator.rank() == 0) window.put(filled(300, 1), 1);
    kit.barrier();
    Window::View view = window.get(0);
    kit.barrier();
    for (std::uint64_t stamp = 2; kit.communicator.rank() == 0 && stamp < 50; ++stamp)
      EXPECT_TRUE(window.put(filled(300, stamp), stamp));
    kit.barrier();
    expect_holds(view, 300, 1);
    const Window::View moved = std::move(view);
    expect_holds(moved, 300, 1);
    expect_holds(window.get(0), 300, 49);
  });
}

/// Reads a slot of rank 0 until `writing` ends; counts down `unsatisfied` after `wanted` looks.
void read_while(const std::atomic<bool>& writing, Window& window, std::size_t floats, int wanted,
                std::atomic<int>& unsatisfied) {
  std::uint64_t latest = 0;
  int seen = 0;
  for (bool again = true; again;) {
    again = writing;
    const Window::View view = window.get(0);
    if (view.stamp() == 0) continue;  // not yet written, or given up
    if (++seen == wanted) --unsatisfied;
    ASSERT_GE(view.stamp(), latest) << "stamps go back";
    latest = view.stamp();
    ASSERT_EQ(view.values().size(), floats);
    const auto number = static_cast<float>((latest - 1) % 4096 + 1);
    for (const float value : view.values()) ASSERT_EQ(value, number) << "written as " << latest;
  }
}

// A torn array shows as a mixture of stamps. Two ranks read as fast as they can.
TEST_P(WindowFrom, NeverShowsHalfAnArrayUnderAHammeringWriter) {
  for (const std::size_t floats : {16U, 4099U}) {
    std::atomic<bool> writing{true};
    std::atomic<int> unsatisfied{2};
    on_threads({.ranks = 3, .nodes = GetParam()}, [&](Kit& kit) {
      Window window(kit.communicator, floats);
      kit.barrier();
      if (kit.communicator.rank() > 0) {
        read_while(writing, window, floats, 1000, unsatisfied);
        return;
      }
      std::uint64_t stamp = 0;
      for (; unsatisfied > 0; ++stamp) {  // however busy the machine is
        EXPECT_TRUE(window.put(filled(floats, stamp % 4096 + 1), stamp + 1))
            << "two readers hold two buffers";
        if (stamp % 64 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      writing = false;
    });
  }
}

TEST(Window, RefusesToWriteOnlyWhenReadersHoldEveryBuffer) {
  on_threads({.ranks = 1}, [](Kit& kit) {
    Window window(kit.communicator, 8);
    std::vector<Window::View> held;
    std::uint64_t stamp = 1;
    while (window.put(filled(8, stamp), stamp)) {
      held.push_back(window.get(0));
      ASSERT_LT(++stamp, 100U);
    }
    EXPECT_GE(held.size(), 3U);
    for (std::size_t k = 0; k < held.size(); ++k) expect_holds(held[k], 8, k + 1);
    expect_holds(window.get(0), 8, stamp - 1);  // the old content stays
    held.erase(held.begin() + 1);               // any one buffer is enough
    EXPECT_TRUE(window.put(filled(8, stamp), stamp));
    expect_holds(window.get(0), 8, stamp);
    expect_holds(held[0], 8, 1);
    EXPECT_FALSE(window.put(filled(8, stamp), stamp) && window.put(filled(8, stamp), stamp));
  });
}

TEST(Window, RefusesAnArrayThatIsLongerThanItsSlots) {
  on_threads({.ranks = 1}, [](Kit& kit) {
    Window window(kit.communicator, 8);
    EXPECT_EQ(sagips::testing::message_of<core::Error>([&] { window.put(filled(9, 1), 1); }),
              "an array of 9 floats does not fit into a window of 8.");
  });
}

}  // namespace
}  // namespace sagips::comm::testing
