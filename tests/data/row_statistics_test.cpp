#include "sagips/data/row_statistics.hpp"

#include <gtest/gtest.h>

#include "sagips/core/error.hpp"

namespace sagips::data {
namespace {

/// Rows that are read in pieces, as those of files are.
class InPieces final : public ExampleRows {
 public:
  explicit InPieces(Examples examples) : examples_(std::move(examples)) {}
  std::int64_t rows() const override { return examples_.rows(); }
  Examples read(const torch::Tensor& numbers) const override { return examples_.chosen(numbers); }
  std::uint32_t fingerprint(std::uint32_t sum) const override { return sum; }

 private:
  Examples examples_;
};

Examples drawn(const std::vector<std::int64_t>& row, std::int64_t rows) {
  torch::manual_seed(3);
  std::vector<std::int64_t> shape = row;
  shape.insert(shape.begin(), rows);
  return {torch::randn(shape) * 30 + 1500, torch::randint(0, 3, {rows}, torch::kInt64)};
}

// 10,000 rows are three pieces.
TEST(RowStatistics, StandardiseColumnsAndChannels) {
  for (const std::vector<std::int64_t>& row :
       {std::vector<std::int64_t>{4}, {3, 2}, {2, 5, 3}, {2, 2, 2, 2}}) {
    const Examples examples = drawn(row, 10000);
    const Standard found = statistics_of(*hold(examples), true, false).inputs;
    const torch::Tensor made = found.apply(examples.inputs).to(torch::kFloat64);
    std::vector<std::int64_t> together{0};  // the dimensions that share a mean
    for (std::int64_t i = 2; row.size() >= 3 && i < made.dim(); ++i) together.push_back(i);
    EXPECT_LT(made.mean(together).abs().max().item<double>(), 1e-5) << row.size();
    EXPECT_LT((made.var(together, /*unbiased=*/false) - 1).abs().max().item<double>(), 1e-5);
    EXPECT_LT(
        (found.undo(found.apply(examples.inputs)) - examples.inputs).abs().max().item<double>(),
        1e-3);
  }
}

TEST(RowStatistics, AreThoseOfRowsInMemoryWhereverTheseAre) {
  const Examples examples = drawn({4}, 10000);
  int calls = 0;
  Reading first_rank;
  first_rank.once = [&calls](const Reading::Text& say) {
    ++calls;
    return say();
  };
  const RowStatistics held = statistics_of(*hold(examples), true, false),
                      read = statistics_of(InPieces(examples), true, false, first_rank);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(torch::equal(held.inputs.mean, read.inputs.mean));
  EXPECT_TRUE(torch::equal(held.inputs.deviation, read.inputs.deviation));
  EXPECT_TRUE(torch::equal(held.class_shares, read.class_shares));
  EXPECT_FALSE(read.targets.mean.defined());
  EXPECT_EQ(held.weight, 1);
}

TEST(RowStatistics, LeaveAColumnThatNeverChangesAlone) {
  Examples examples = drawn({2}, 5000);
  examples.inputs.select(1, 0).fill_(0.1F);
  const Standard found = statistics_of(*hold(examples), true, false).inputs;
  EXPECT_TRUE(
      torch::equal(found.apply(examples.inputs).select(1, 0), examples.inputs.select(1, 0)));
}

TEST(RowStatistics, CountRowsByTheirWeights) {
  Examples examples = drawn({2}, 4);
  examples.weights = torch::tensor({0.0F, 2.0F, 4.0F, 0.0F});
  examples.targets = torch::tensor({0, 0, 1, 2}, torch::kInt64);
  const RowStatistics found = statistics_of(*hold(examples), true, false);
  EXPECT_EQ(found.weight, 1.5);
  const torch::Tensor mean = (examples.inputs[1] + 2 * examples.inputs[2]).to(torch::kFloat64) / 3;
  EXPECT_LT((found.inputs.mean - mean).abs().max().item<double>(), 1e-3);
  EXPECT_LT((found.class_shares - torch::tensor({2.0, 4.0, 0.0}, torch::kFloat64) / 6)
                .abs()
                .max()
                .item<double>(),
            1e-12);
  examples.weights.zero_();
  EXPECT_THROW(statistics_of(*hold(examples), false, false), core::DataError);
}

}  // namespace
}  // namespace sagips::data
