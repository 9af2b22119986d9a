// Stops that cannot wait for the end of an epoch.
#include "sagips/train/checkpoint/quick_stop.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/train/small_ranks.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;

nn::State state_of(std::int64_t epoch) {
  return {{"epoch", torch::full({}, epoch, torch::kInt64)}};
}

// Ranks that have kept the boundaries first .. last, polled until they give up or have been
// refused. Time passes while a rank without a signal does something: with a signal on all, nobody
// gives up.
template <class Kept, class Requested>
std::vector<std::int64_t> gone_back(int count, bool waits, const Kept& kept,
                                    const Requested& requested) {
  std::vector<std::int64_t> epochs(static_cast<std::size_t>(count), -1);
  std::atomic<std::int64_t> clock_ns = 0;
  std::atomic<int> asking = 0;
  for (int rank = 0; rank < count; ++rank) asking += requested(rank) ? 1 : 0;
  const auto body = [&](comm::Ranks& ranks) {
    const bool asks = requested(ranks.rank());
    QuickStop stop(ranks, waits, [&] { return asks; });
    const auto [first, last] = kept(ranks.rank());
    for (std::int64_t epoch = first; epoch <= last; ++epoch)
      stop.boundary(epoch, 1.0, [&] { return state_of(epoch); });
    try {
      for (int poll = 0; asks && poll < 3; ++poll) stop.poll();
      for (; !asks && asking > 0; clock_ns += 1'000'000) stop.poll();
      EXPECT_FALSE(ranks.is_first() && asks && stop.in_hand()) << "the usual way is open";
    } catch (const EpochGivenUp& given_up) {
      EXPECT_EQ(given_up.in_order, count == 1);
      EXPECT_TRUE(stop.given_up());
      epochs[static_cast<std::size_t>(ranks.rank())] =
          stop.chosen().at("epoch").template item<std::int64_t>();
    }
    if (asks) --asking;
    ranks.gather(0);  // its word is still on its way
  };
  on_ranks(count, body, &clock_ns);
  return epochs;
}

using Range = std::pair<std::int64_t, std::int64_t>;
using Epochs = std::vector<std::int64_t>;
const auto everybody = [](int) { return true; };

TEST(QuickStop, GoesBackToTheLastBoundary) {
  EXPECT_EQ(gone_back(
                1, false,
                [](int) {
                  return Range{3, 7};
                },
                everybody),
            Epochs{7});
}

TEST(QuickStop, TakesRanksThatWaitToTheNewestBoundaryThatAllHave) {
  const auto kept = [](int rank) { return rank == 2 ? Range{5, 6} : Range{6, 7}; };
  EXPECT_EQ(gone_back(3, true, kept, everybody), (Epochs{6, 6, 6}));
}

TEST(QuickStop, TakesRanksThatNeverWaitEachToItsOwn) {
  const auto kept = [](int rank) { return Range{10 * rank, 10 * rank + 1}; };
  EXPECT_EQ(gone_back(3, false, kept, everybody), (Epochs{1, 11, 21}));
}

TEST(QuickStop, LeavesTheUsualWayOpenWithoutACommonBoundary) {
  const auto apart = [](int rank) { return rank == 0 ? Range{5, 6} : Range{7, 8}; };
  EXPECT_EQ(gone_back(2, true, apart, everybody), (Epochs{-1, -1}));
  const auto none = [](int rank) { return rank == 0 ? Range{5, 6} : Range{0, -1}; };
  EXPECT_EQ(gone_back(2, true, none, everybody), (Epochs{-1, -1}));
}

TEST(QuickStop, NeedsTheSignalOnAllRanks) {
  const auto kept = [](int) { return Range{5, 6}; };
  for (const int flagged : {0, 1})
    EXPECT_EQ(gone_back(2, true, kept, [&](int rank) { return rank == flagged; }),
              (Epochs{-1, -1}));
}

TEST(QuickStop, KeepsNothingWhereEpochsAreShort) {
  on_ranks(1, [](comm::Ranks& ranks) {
    QuickStop stop(ranks, false, [] { return true; });
    int copies = 0;
    for (std::int64_t epoch = 1; epoch < 5; ++epoch)
      stop.boundary(epoch, 0.01, [&] { return ++copies, state_of(epoch); });
    EXPECT_EQ(copies, 0);
    EXPECT_NO_THROW(stop.poll());
    EXPECT_FALSE(stop.in_hand());
  });
}

TEST(QuickStop, TriesAgainAfterACopyThatWasSlowByChance) {
  std::atomic<std::int64_t> clock_ns = 0;
  const auto body = [&](comm::Ranks& ranks) {
    QuickStop stop(ranks, false, [] { return true; });
    std::vector<std::int64_t> copied;
    for (std::int64_t epoch = 1; epoch <= 60; ++epoch)
      stop.boundary(epoch, 10.0, [&] {
        copied.push_back(epoch);
        if (epoch == 1) clock_ns += 350'000'000;
        return state_of(epoch);
      });
    ASSERT_EQ(copied.size(), 56U);
    EXPECT_EQ(copied[1], 6) << "3.5 % of an epoch, so the next four go without";
    EXPECT_THROW(stop.poll(), EpochGivenUp);
    EXPECT_EQ(stop.chosen().at("epoch").item<std::int64_t>(), 60);
  };
  on_ranks(1, body, &clock_ns);
}

// A signal in the middle of an epoch; what is gone back to and on with equals an undisturbed run.
// Time stands still, so that no copy is costly and nobody gives up.
TEST(QuickStop, LeavesAnEpochAsIfItHadNotBegun) {
  for (const unsigned count : {1U, 3U}) {
    std::vector<torch::Tensor> undisturbed(3), disturbed(3);
    std::atomic<bool> requested = false;
    const std::atomic<std::int64_t> clock_ns = 0;
    on_ranks(static_cast<int>(count), [&](comm::Ranks& ranks) {
      const auto rank = static_cast<std::size_t>(ranks.rank());
      SmallTraining whole(ranks, small_gan(), {.primary = "ring"});
      whole.loop.run_epochs(12);
      undisturbed[rank] = whole.weights();
    });
    const auto body = [&](comm::Ranks& ranks) {
      const auto rank = static_cast<std::size_t>(ranks.rank());
      SmallTraining training(ranks, small_gan(), {.primary = "ring"}, SmallTraining::epochs(12));
      QuickStop stop(ranks, true, [&] { return requested.load(); });
      ranks.timeout().set_config({.timeout_s = 60, .alarmed = [&] {
                                    stop.poll();
                                    return requested.load();
                                  }});
      Loop::Callbacks callbacks = training.callbacks(ranks);
      Loop* running = nullptr;
      bool finished = false;
      callbacks.exchange.poll = [&stop, inner = callbacks.exchange.poll] {
        if (inner) inner();
        stop.poll();
      };
      callbacks.agree = [&](std::int64_t epoch, const record::StopReason&) {
        if (!requested) stop.boundary(epoch, 1.0, [&] { return nn::give_state(*running); });
        if (epoch == 7) requested = true;
        return record::StopReason();
      };
      callbacks.go_back = [&] { nn::take_state(*running, stop.chosen()); };
      callbacks.observers.push_back([&](const record::Event& event) {
        finished = finished || std::holds_alternative<record::RunFinished>(event);
      });
      Loop loop(SmallTraining::epochs(12), training.gan, callbacks);
      running = &loop;
      const LoopResult result = loop.run();
      EXPECT_EQ(result.reason.text, "interrupted");
      EXPECT_LE(result.epochs, 7);
      EXPECT_GE(result.epochs, 6);
      EXPECT_EQ(finished, count == 1) << "among several ranks nothing follows";
      const nn::State left = nn::give_state(loop);
      SmallTraining second(ranks, small_gan(), {.primary = "ring"});
      nn::take_state(second.loop, left);
      ranks.timeout().set_config({.timeout_s = 60, .alarmed = {}});
      second.loop.run_epochs(12);
      disturbed[rank] = second.weights();
      const auto epochs = static_cast<std::uint64_t>(result.epochs);
      EXPECT_EQ(ranks.gather(epochs), std::vector<std::uint64_t>(count, epochs));
    };
    on_ranks(static_cast<int>(count), body, &clock_ns);
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(count); ++rank)
      EXPECT_TRUE(torch::equal(disturbed[rank], undisturbed[rank])) << rank << " of " << count;
  }
}

}  // namespace
}  // namespace sagips::train
