#include "sagips/train/engine.hpp"

#include <gtest/gtest.h>

#include "tests/train/two_weights.hpp"

namespace sagips::train {
namespace {

using namespace sagips::testing;

using Counts = std::vector<std::int64_t>;

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
