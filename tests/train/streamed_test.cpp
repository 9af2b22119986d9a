// Training on rows that stay in their files: each once a data epoch, in an order that knows neither ranks
// nor files, with the numbers of a training in memory, and within little memory.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "sagips/core/npy.hpp"
#include "sagips/nn/layers/layer_config.hpp"
#include "sagips/optim/learn/supervised.hpp"
#include "sagips/train/loop.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::train {
namespace {

using optim::Supervised;
using sagips::testing::TemporaryFolder;

std::vector<optim::NetworkPart> one_layer(std::int64_t inputs) {
  const std::vector<nn::LayerConfig> layers = {nn::LayerConfig::dense(1, {})};
  return {{.network = std::make_shared<nn::LayeredNetwork>(layers, nn::Shape{inputs})}};
}

// Files of so many rows, each of which holds its number and a target.
data::ExampleFiles numbered(const TemporaryFolder& folder, const std::vector<std::int64_t>& rows) {
  float number = 0;
  for (std::size_t file = 0; file < rows.size(); ++file) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < rows[file]; ++i) {
      values.push_back(number++);
      values.push_back(std::sin(number));
    }
    core::write_npy(folder.file("part_" + std::to_string(1000 + file) + ".npy"), values,
                    {static_cast<std::size_t>(rows[file]), 2});
  }
  data::ExampleFiles files;
  files.inputs = {.file = {folder.file("part_*.npy")}, .columns = {"0"}};
  files.targets = {.file = {folder.file("part_*.npy")}, .columns = {"1"}};
  files.memory_GB = 0;
  files.cache.folder = folder.file("cache");
  return files;
}

// The rows of a data epoch, step by step, the ranks' behind each other.
std::vector<std::int64_t> order_of_epoch(const data::ExampleRowsPtr& rows, std::int64_t batch,
                                         std::int64_t shuffle_rows, std::int64_t ranks,
                                         std::uint32_t epoch) {
  std::vector<std::unique_ptr<Supervised>> learners;
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    learners.push_back(std::make_unique<Supervised>(
        optim::SupervisedConfig{
            .batch = batch, .shuffle_rows = shuffle_rows, .loss = "mean_square"},
        one_layer(1), rows, 7, torch::kCPU, problem::RankPlace{rank, ranks}));
  std::vector<std::int64_t> order;
  const auto steps = static_cast<std::uint32_t>(learners[0]->steps_per_epoch());
  for (std::uint32_t step = 1; step <= steps; ++step)
    for (const auto& learner : learners) {
      const auto batch_of_rank = learner->draw((epoch - 1) * steps + step);
      const torch::Tensor numbers =
          Supervised::inputs_of(*batch_of_rank).flatten().to(torch::kInt64);
      const std::int64_t* const number = numbers.const_data_ptr<std::int64_t>();
      order.insert(order.end(), number, number + numbers.numel());
    }
  return order;
}

TEST(StreamedRows, EachOnceADataEpochInAnOrderThatKnowsNoRanks) {
  std::mt19937 random(19);
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int drawn = 0; drawn < 12; ++drawn) {
    const TemporaryFolder folder;
    std::vector<std::int64_t> rows;
    std::int64_t all = 0;
    for (std::int64_t files = between(1, 6); files > 0; --files) {
      // from one row to ten thousand, small files as often as large ones
      rows.push_back(static_cast<std::int64_t>(
          std::pow(10.0, std::uniform_real_distribution<>(0, 4)(random))));
      all += rows.back();
    }
    const data::ExampleRowsPtr examples = numbered(folder, rows).load().training;
    ASSERT_FALSE(examples->in_memory());
    const std::int64_t shuffle_rows = 256 * between(1, 8), ranks = std::min(all, between(2, 8)),
                       batch = between(1, 200);
    std::vector<std::vector<std::int64_t>> orders;
    for (const std::uint32_t epoch : {1U, 2U}) {
      orders.push_back(order_of_epoch(examples, batch * ranks, shuffle_rows, 1, epoch));
      EXPECT_EQ(order_of_epoch(examples, batch, shuffle_rows, ranks, epoch), orders.back())
          << ranks << " ranks of batches of " << batch;
      EXPECT_EQ(orders.back().size(), static_cast<std::size_t>(all));
      const std::set<std::int64_t> seen(orders.back().begin(), orders.back().end());
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(all))
          << all << " rows, of which shuffled " << shuffle_rows;
    }
    EXPECT_TRUE(all <= 20 || orders[0] != orders[1]);
  }
}

TEST(StreamedRows, BatchesAreMixedFromManyChunks) {
  constexpr std::int64_t rows = 25600, shuffle_rows = 5120;
  const data::SamplePlan plan(rows, 3, shuffle_rows);
  std::set<std::int64_t> chunks_of_block;
  for (std::int64_t place = 0; place + 100 <= shuffle_rows; place += 100) {
    const torch::Tensor chunks = plan.rows_at(1, place, 100).div(256, "floor");
    EXPECT_GE(std::get<0>(at::_unique(chunks)).size(0), 17)
        << "of 20 chunks; four are missing from 100 draws with a chance of 1e-6";
    for (std::int64_t i = 0; i < 100; ++i) chunks_of_block.insert(chunks[i].item<std::int64_t>());
  }
  EXPECT_EQ(chunks_of_block.size(), 20U) << "a block stays within its chunks";
}

torch::Tensor weights_after(const data::ExampleRowsPtr& rows, std::int64_t steps) {
  Supervised learner({.batch = 32, .shuffle_rows = 512, .loss = "mean_square"}, one_layer(1), rows,
                     7, torch::kCPU);
  LoopConfig config;
  config.epochs = 10;
  Loop(config, learner, {}).run_steps(steps);
  return learner.replica().weights().clone();
}

TEST(StreamedRows, TrainLikeRowsInMemoryBitForBit) {
  const TemporaryFolder folder;
  data::ExampleFiles files = numbered(folder, {700, 1, 1300});
  const data::ExampleRowsPtr anew = files.load().training;
  files.memory_GB = 1;
  const data::ExampleRowsPtr held = files.load().training;
  ASSERT_TRUE(held->in_memory());
  ASSERT_FALSE(anew->in_memory());
  EXPECT_TRUE(weights_after(anew, 150).equal(weights_after(held, 150)));
}

std::int64_t anonymous_kB() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("RssAnon:", 0) == 0) return std::stoll(line.substr(8));
  return 0;
}

// A file with holes takes no room on the disk and is read like any other.
TEST(StreamedRows, TenTimesTheMemoryPassesThroughIt) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer keeps memory that was freed";
#endif
  const TemporaryFolder folder;
  constexpr std::int64_t rows = 6000, numbers = 25000;  // 600 MB
  const std::string path = folder.make("large.npy", core::npy_header_bytes({rows, numbers}, "<f4"));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + 4 * rows * numbers);
  core::write_npy(folder.file("targets.npy"), std::vector<float>(rows), {rows, 1});
  data::ExampleFiles files;
  files.inputs.file = {path};
  files.targets.file = {folder.file("targets.npy")};
  files.memory_GB = 0.06;
  files.cache.folder = folder.file("cache");
  const std::int64_t before = anonymous_kB();
  ASSERT_GT(before, 0);
  Supervised learner({.batch = 50, .loss = "mean_square"}, one_layer(numbers),
                     files.load().training, 1, torch::kCPU);
  LoopConfig config;
  config.epochs = 1;
  Loop loop(config, learner, {});
  std::int64_t most = before;
  for (std::int64_t step = 1; step <= learner.steps_per_epoch(); ++step) {
    loop.run_steps(step);
    most = std::max(most, anonymous_kB());
  }
  EXPECT_LT(most - before, 60'000) << "kB, of 600,000 kB of rows";
}

}  // namespace
}  // namespace sagips::train
