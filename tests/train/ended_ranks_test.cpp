// Checkpoints of ranks that come to their end one after the other.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "sagips/train/checkpoint/checkpoint_file.hpp"
#include "sagips/train/checkpoint/checkpointer.hpp"
#include "tests/core/temporary_folder.hpp"
#include "tests/train/shelf.hpp"
#include "tests/train/small_ranks.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;

TEST(Checkpoints, HoldTheEndOfARankThatHasEnded) {
  const TemporaryFolder folder;
  on_ranks(2, [&](comm::Ranks& ranks) {
    Shelf shelf(ranks, folder.file("checkpoints"));
    const auto own = [&](std::int64_t epoch) {
      return nn::State{{"x", torch::full({2}, static_cast<float>(epoch))}};
    };
    if (!ranks.is_first()) shelf.checkpoints.write(Checkpoints::last, 90, 1, own(90));
    ranks.gather(0);
    if (ranks.is_first()) {
      shelf.checkpoints.write(1, 5, 1, own(5));
      for (int poll = 0; poll < 1000 && shelf.checkpoints.written() == 0; ++poll)
        shelf.checkpoints.poll();
      EXPECT_EQ(shelf.store.names(), Lines{"000001_epoch_5"}) << "while rank 0 goes on";
      shelf.checkpoints.write(Checkpoints::last, 10, 1, own(10));
    }
    shelf.checkpoints.settle();
    ranks.gather(0);
    EXPECT_EQ(shelf.warned, Lines{});
    for (const std::string name : {"000001_epoch_5", "000002_epoch_10"}) {
      const auto part = shelf.store.part(name, shelf.store.manifest(name), 1);
      EXPECT_TRUE(torch::equal(to_state(part).at("x"), own(90).at("x"))) << name;
    }
  });
}

// Rank 0 is through with its epochs while rank 1, which never waits, goes on for long.
TEST(Checkpointer, LeadsRanksThatGoOnWhenTheFirstHasEnded) {
  const TemporaryFolder folder;
  std::atomic<bool> first_ended = false, wanted = false, asked = false, stop = false;
  on_ranks(2, [&](comm::Ranks& ranks) {
    SmallTraining training(ranks, small_gan(), {.primary = "none"});
    Shelf shelf(ranks, folder.file("checkpoints"));
    StopAgreement agreement(ranks, false);
    Loop* running = nullptr;
    Checkpointer checkpointer(
        ranks, {.epochs = 0, .minutes = 1000}, false, agreement, shelf.checkpoints,
        {.stop = [&] { return stop.load(); },
         .checkpoint = [&] { return ranks.is_first() && wanted.exchange(false); }},
        [&](nn::StateList& list) { list.part("loop", *running); });
    ranks.timeout().set_config({.timeout_s = 60, .alarmed = [&] {
                                  checkpointer.poll();
                                  return false;
                                }});
    Loop::Callbacks callbacks = training.callbacks(ranks);
    checkpointer.attach_to(callbacks);
    callbacks.ended = [&, inner = callbacks.ended] {
      first_ended = first_ended || ranks.is_first();
      return inner();
    };
    callbacks.observers.push_back([&](const record::Event&) {
      if (ranks.is_first()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (first_ended && !asked.exchange(true)) wanted = true;
      stop = !shelf.store.names().empty();
    });
    Loop loop(SmallTraining::epochs(ranks.is_first() ? 3 : 1'000'000), training.gan, callbacks);
    running = &loop;
    checkpointer.watch(loop);
    const LoopResult result = loop.run();
    EXPECT_EQ(result.reason.text, "interrupted") << "rank " << ranks.rank();
    EXPECT_FALSE(result.complete) << "the run is not over: rank 1 has epochs to go";
    if (ranks.is_first())
      EXPECT_EQ(result.epochs, 3);
    else
      EXPECT_LT(result.epochs, 1'000'000);  // 3 by chance, too: it may be told while it catches up
    agreement.part();
  });
}

}  // namespace
}  // namespace sagips::train
