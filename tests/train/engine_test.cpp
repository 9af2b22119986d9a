#include "sagips/train/engine.hpp"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "sagips/core/error.hpp"
#include "sagips/core/poll.hpp"
#include "tests/train/two_weights.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;

using Counts = std::vector<std::int64_t>;

std::vector<std::int64_t> tile_sizes(std::int64_t samples, std::int64_t tile_samples,
                                     bool separable) {
  TwoWeights optimizer(first_then_second, samples);
  optimizer.passes()[0].separable = separable;
  const std::unique_ptr<optim::Batch> drawn = optimizer.draw(1);
  optim::Batch& batch = *drawn;
  std::int64_t polls = 0;
  const torch::Tensor losses =
      Engine({tile_samples}).gradients(optimizer.passes()[0], optimizer.steps(), batch, [&] {
        ++polls;
      });
  EXPECT_NEAR(losses[0].item<double>(), 25, 1e-4);
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
  const std::unique_ptr<optim::Batch> drawn = optimizer.draw(1);
  optim::Batch& batch = *drawn;
  for (int repeat = 0; repeat < 2; ++repeat)
    Engine({4}).gradients(optimizer.passes()[1], optimizer.steps(), batch, {});
  EXPECT_NEAR(optimizer.replica(1).gradients().item<double>(), 3, 1e-6);
}

/// The sizes for a batch that nobody evaluates.
Counts automatic_sizes(std::int64_t samples, std::int64_t events, int threads) {
  optim::Batch batch;
  batch.samples = samples;
  batch.events = events;
  Counts sizes;
  std::int64_t next = 0;
  for (const optim::Tile& tile : Engine({.threads = threads}).tiles({}, batch)) {
    EXPECT_EQ(tile.index, static_cast<std::int64_t>(sizes.size()));
    EXPECT_EQ(tile.first, next);
    EXPECT_GT(tile.samples, 0);
    next += tile.samples;
    sizes.push_back(tile.samples);
  }
  EXPECT_EQ(next, samples);
  return sizes;
}

TEST(Engine, CutsTilesByItselfSoThatThreadsEndTogether) {
  EXPECT_EQ(automatic_sizes(1024, 100, 1), Counts(8, 128));
  EXPECT_EQ(automatic_sizes(10, 100, 1), Counts{10});
  EXPECT_EQ(automatic_sizes(10, 100, 2), (Counts{5, 5}));
  Counts of_two(14, 64);
  of_two.insert(of_two.end(), 8, 16);
  EXPECT_EQ(automatic_sizes(1024, 100, 2), of_two);
  EXPECT_EQ(automatic_sizes(1, 100, 4), Counts{1});
  EXPECT_EQ(automatic_sizes(3, 1'000'000, 2), (Counts{1, 1, 1}));
  for (const std::int64_t samples : {1, 2, 7, 65, 129, 1000, 4099})
    for (const int threads : {1, 2, 3, 5, 16}) automatic_sizes(samples, 100, threads);
}

TEST(Engine, CutsASmallStepForNoMoreThreadsThanItIsWorth) {
  optim::Batch batch;
  batch.samples = 120;
  batch.events = 1;
  const auto sizes = [&](std::int64_t operations, int threads) {
    optim::Pass pass;
    pass.operations = operations;
    Counts found;
    for (const optim::Tile& tile : Engine({.threads = threads}).tiles(pass, batch))
      found.push_back(tile.samples);
    return found;
  };
  EXPECT_EQ(sizes(24'586, 8), Counts{120});
  EXPECT_EQ(sizes(5'000'000, 8), Counts(4, 30));
  EXPECT_EQ(sizes(5'000'000, 2), Counts(2, 60));
  EXPECT_EQ(sizes(0, 8), Counts(8, 15)) << "nobody knows what a sample takes";
}

/// Adds a tile's numbers, which only one order of summation rounds alike, to a weight's gradient.
struct Sums {
  nn::Replica replica{{{"weight", {3}, 1, false}}, nn::SharedPart::all, torch::kCPU};
  std::vector<optim::UpdateStep> steps{{"sums", &replica, nullptr}};
  std::vector<optim::Tile> seen;
  std::vector<std::thread::id> threads;
  std::mutex mutex;
  std::int64_t failing_tile = -1;

  optim::Pass pass() {
    optim::Pass pass;
    pass.name = "sums";
    pass.steps = {0};
    pass.loss_names = {"sum"};
    pass.gradients = [this](optim::Batch&, const optim::Tile& tile,
                            std::span<nn::Leaves* const> leaves) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      if (tile.index == failing_tile) throw core::DataError("tile", "is broken");
      leaves[0]->gradients.add_(1.0F / (1.0F + static_cast<float>(tile.first)));
      const std::lock_guard lock(mutex);
      seen.push_back(tile);
      threads.push_back(std::this_thread::get_id());
      return torch::tensor({1.0 / (1.0 + static_cast<double>(tile.first))}, torch::kFloat64);
    };
    return pass;
  }
};

optim::Batch batch_of(std::int64_t samples) {
  optim::Batch batch;
  batch.samples = samples;
  batch.events = 1;
  return batch;
}

TEST(Engine, AddsUpInOneOrderWhoeverTakesATile) {
  std::vector<torch::Tensor> found;
  std::vector<double> losses;
  for (const int threads : {1, 2, 4}) {
    Sums sums;
    Engine engine({.tile_samples = 3, .threads = threads});
    for (int repeat = 0; repeat < 5; ++repeat) {
      optim::Batch batch = batch_of(200);
      losses.push_back(engine.gradients(sums.pass(), sums.steps, batch, {})[0].item<double>());
      found.push_back(sums.replica.gradients().clone());
    }
    EXPECT_EQ(sums.seen.size(), 5 * 67U) << "each tile once";
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(torch::equal(found[i], found[0])) << i;
    EXPECT_EQ(losses[i], losses[0]) << i;
  }
}

TEST(Engine, FindsTheSameHoweverManyThreadsItTries) {
  const auto found = [](bool chooses) {
    Sums sums;
    const optim::Pass pass = sums.pass();
    Engine engine({.tile_samples = 3, .threads = 4, .chooses_threads = chooses});
    std::vector<torch::Tensor> gradients;
    for (int repeat = 0; repeat < 20; ++repeat) {  // of which trials take eight or more
      optim::Batch batch = batch_of(200);
      engine.gradients(pass, sums.steps, batch, {});
      gradients.push_back(sums.replica.gradients().clone());
    }
    return torch::stack(gradients);
  };
  EXPECT_TRUE(torch::equal(found(true), found(false)));
}

TEST(Engine, SaysWhereNotAllThreadsTakePart) {
  Sums sums;
  optim::Pass pass = sums.pass();
  pass.operations = 1;
  optim::Batch batch = batch_of(10);
  Engine choosing({.threads = 3, .chooses_threads = true}), bound({.threads = 3});
  choosing.gradients(pass, sums.steps, batch, {});
  bound.gradients(pass, sums.steps, batch, {});
  EXPECT_EQ(choosing.threads_that_pay(), "1 of 3");
  EXPECT_EQ(bound.threads_that_pay(), "");
}

TEST(Engine, PollsOnTheCallingThreadAlone) {
  Sums sums;
  Engine engine({.tile_samples = 1, .threads = 3});
  optim::Batch batch = batch_of(100);
  std::atomic<int> polls{0}, elsewhere{0};
  std::atomic<bool> helped{false};
  const auto here = std::this_thread::get_id();
  optim::Pass pass = sums.pass();
  pass.gradients = [&, inner = pass.gradients](optim::Batch& all, const optim::Tile& tile,
                                               std::span<nn::Leaves* const> leaves) {
    if (std::this_thread::get_id() != here) helped = true;
    while (!helped) std::this_thread::yield();  // others come as soon as they are given a processor
    return inner(all, tile, leaves);
  };
  engine.gradients(pass, sums.steps, batch, [&] {
    ++polls;
    if (std::this_thread::get_id() != here) ++elsewhere;
  });
  EXPECT_GE(polls.load(), std::count(sums.threads.begin(), sums.threads.end(), here));
  EXPECT_EQ(elsewhere.load(), 0);
}

// A step of a learning problem is often one tile: who waits for this rank would wait for the whole of it.
TEST(Engine, PollsWithinATile) {
  for (const bool within : {true, false}) {
    Sums sums;
    Engine engine({.tile_samples = 100, .polls_within_tiles = within});
    optim::Batch batch = batch_of(100);
    int polls = 0, before = 0;
    optim::Pass pass = sums.pass();
    pass.gradients = [&, inner = pass.gradients](optim::Batch& all, const optim::Tile& tile,
                                                 std::span<nn::Leaves* const> leaves) {
      EXPECT_EQ(core::is_polled(), within);
      while (within && polls == 0) core::poll();  // it rests for a while after the last time
      before = polls;
      return inner(all, tile, leaves);
    };
    engine.gradients(pass, sums.steps, batch, [&] { ++polls; });
    EXPECT_EQ(before, within ? 1 : 0);
    EXPECT_EQ(polls, before + 1) << "and one behind the tile";
  }
}

TEST(Engine, LeavesATileThatIsOverWhereAPollWithinItThrew) {
  Sums sums;
  Engine engine({.tile_samples = 100});
  optim::Batch batch = batch_of(100);
  bool has_polled = false, is_over = false;
  optim::Pass pass = sums.pass();
  pass.gradients = [&, inner = pass.gradients](optim::Batch& all, const optim::Tile& tile,
                                               std::span<nn::Leaves* const> leaves) {
    while (!has_polled) core::poll();
    is_over = true;
    return inner(all, tile, leaves);
  };
  EXPECT_THROW(engine.gradients(pass, sums.steps, batch,
                                [&] {
                                  has_polled = true;
                                  throw core::Error("give up");
                                }),
               core::Error);
  EXPECT_TRUE(is_over);
}

TEST(Engine, PassesOnWhatATileThrewAndGoesOnAfterwards) {
  for (const int threads : {1, 3}) {
    Sums sums;
    Engine engine({.tile_samples = 1, .threads = threads});
    optim::Batch batch = batch_of(50);
    sums.failing_tile = 20;
    EXPECT_THROW(engine.gradients(sums.pass(), sums.steps, batch, {}), core::DataError);
    EXPECT_THROW(engine.gradients(sums.pass(), sums.steps, batch,
                                  [] { throw core::Error("the exchange failed"); }),
                 core::Error);
    sums.failing_tile = -1;
    sums.seen.clear();
    engine.gradients(sums.pass(), sums.steps, batch, {});
    EXPECT_EQ(sums.seen.size(), 50U);
  }
}

TEST(Engine, LeavesLibTorchOneThreadInsideTiles) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  Engine engine({.tile_samples = 1, .threads = 2});
  Sums sums;
  optim::Pass pass = sums.pass();
  std::atomic<int> most{0};
  pass.gradients = [&, inner = pass.gradients](optim::Batch& batch, const optim::Tile& tile,
                                               std::span<nn::Leaves* const> leaves) {
    most = std::max(most.load(), at::get_num_threads());
    return inner(batch, tile, leaves);
  };
  optim::Batch batch = batch_of(40);
  engine.gradients(pass, sums.steps, batch, {});
  EXPECT_EQ(most.load(), 1);
  EXPECT_EQ(at::get_num_threads(), 2);
  pass.separable = false;
  most = 0;
  engine.gradients(pass, sums.steps, batch, {});
  EXPECT_EQ(most.load(), 2) << "a loss that runs whole has them all";
  pass.operations = 1000;
  most = 0;
  engine.gradients(pass, sums.steps, batch, {});
  EXPECT_EQ(most.load(), 1) << "but for a step that is too small for them";
  at::set_num_threads(before);
}

}  // namespace
}  // namespace sagips::train
