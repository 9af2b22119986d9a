// Ranks that add up their events and simulations find what one rank finds.
#include <gtest/gtest.h>

#include <mutex>

#include "sagips/optim/moments/moments.hpp"
#include "sagips/train/collectives.hpp"
#include "tests/train/small_ranks.hpp"

namespace sagips::train {
namespace {

env::Environment share_of(const env::Environment& all, int rank, int ranks) {
  env::Environment own = all;
  data::Dataset& data = own.channels[0].training;
  data.values = data.values.index_select(0, torch::arange(rank, data.size(), ranks));
  return own;
}

optim::Solution solve(const env::Environment& environment, comm::Ranks& ranks) {
  optim::SolveContext context;
  context.seed = 3;
  context.place = {ranks.rank(), ranks.size()};
  if (ranks.size() > 1)
    context.add_up = [&ranks](std::span<double> numbers) { add_up(ranks, numbers); };
  optim::MomentsConfig config;
  config.least_events = 16'384;  // whose own chance is small beside that of 1,500 events
  return optim::MomentSolver(config).solve(environment, context);
}

class SolveTogether : public ::testing::TestWithParam<int> {};

TEST_P(SolveTogether, RanksFindOneAnswer) {
  const env::Environment all = testing::small_environment();
  optim::Solution alone;
  testing::on_ranks(1, [&](comm::Ranks& ranks) { alone = solve(all, ranks); });
  std::mutex mutex;
  std::vector<optim::Solution> together;
  testing::on_ranks(GetParam(), [&](comm::Ranks& ranks) {
    const optim::Solution found = solve(share_of(all, ranks.rank(), ranks.size()), ranks);
    const std::lock_guard lock(mutex);
    together.push_back(found);
  });
  ASSERT_EQ(together.size(), static_cast<std::size_t>(GetParam()));
  for (const optim::Solution& solution : together) {
    EXPECT_EQ(solution.values, together[0].values);  // bit for bit
    for (std::size_t i = 0; i < 2; ++i) {
      // other features (the scales are means over ranks)
      EXPECT_NEAR(solution.values[i], alone.values[i], 0.25 * alone.errors[i]);
      EXPECT_NEAR(solution.errors[i] / alone.errors[i], 1, 0.1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, SolveTogether, ::testing::Values(2, 3));

TEST(AddUp, GivesEveryRankTheSameSum) {
  testing::on_ranks(3, [](comm::Ranks& ranks) {
    std::vector<double> numbers = {1.0 + ranks.rank(), 0.1 * ranks.rank()};
    add_up(ranks, numbers);
    EXPECT_EQ(numbers[0], 6);
    EXPECT_DOUBLE_EQ(numbers[1], 0.3);
  });
}

}  // namespace
}  // namespace sagips::train
