#include "sagips/train/row_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/train/small_ranks.hpp"

namespace sagips::train {
namespace {

using sagips::testing::on_ranks;

constexpr std::int64_t rows = 10;

// What row r has in an evaluation: two numbers, and a class.
RowShares::Tensors share_of(const comm::Piece& own, std::int64_t number) {
  const auto first = static_cast<std::int64_t>(own.first);
  const torch::Tensor row =
      torch::arange(first, first + static_cast<std::int64_t>(own.size), torch::kInt64);
  const torch::Tensor value = (row + 100 * number).to(torch::kFloat32);
  return {torch::stack({value, -value}, 1), row};
}

void expect_all(const std::optional<RowShares::Found>& found, std::int64_t number) {
  ASSERT_TRUE(found.has_value()) << "evaluation " << number;
  EXPECT_EQ(found->number, number);
  const RowShares::Tensors wanted = share_of({0, rows}, number);
  for (std::size_t k = 0; k < wanted.size(); ++k)
    EXPECT_TRUE(torch::equal(found->tensors[k], wanted[k]));
}

TEST(RowShares, JoinsRowsInTheirOrderWhenTheLastHasCome) {
  on_ranks(4, [](comm::Ranks& ranks) {
    RowShares shares(ranks, {0, 1, 3}, rows);  // 4, 3 and 3 rows
    EXPECT_EQ(shares.takes_part(), ranks.rank() != 2);
    const auto bring = [&](std::int64_t number) {
      if (shares.takes_part()) shares.bring(number, share_of(shares.own(), number));
    };
    if (ranks.rank() != 3) bring(1), bring(2);
    ranks.gather(0);
    if (ranks.is_first()) {
      EXPECT_FALSE(shares.next(false)) << "rank 3 has not come";
    }
    ranks.gather(0);
    if (ranks.rank() == 3) bring(1), bring(2);
    if (ranks.is_first()) {
      expect_all(shares.next(true), 1);
      expect_all(shares.next(true), 2);
      EXPECT_FALSE(shares.next(true)) << "nothing is under way";
    }
    shares.close();
  });
}

TEST(RowShares, LetsGoWhatSomebodyHasLeftWithout) {
  on_ranks(3, [](comm::Ranks& ranks) {
    RowShares shares(ranks, {0, 1, 2}, rows);
    const std::int64_t last = ranks.rank() == 1 ? 3 : ranks.is_first() ? 2 : 1;
    for (std::int64_t number = 1; number <= last; ++number)
      shares.bring(number, share_of(shares.own(), number));
    if (ranks.is_first()) {
      expect_all(shares.next(true), 1);
      EXPECT_FALSE(shares.next(true));
    }
    shares.close();
  });
}

// After a restart, somebody who was behind rank 0 brings what rank 0 has judged before.
TEST(RowShares, PassesOverWhatWasJudgedBefore) {
  on_ranks(3, [](comm::Ranks& ranks) {
    RowShares shares(ranks, {0, 1, 2}, rows);
    const auto bring = [&](std::int64_t number) {
      shares.bring(number, share_of(shares.own(), number));
    };
    if (ranks.rank() == 1) bring(1);  // perhaps before rank 0 waits
    if (ranks.rank() < 2) bring(2);
    ranks.gather(0);
    if (ranks.rank() == 2) bring(1), bring(2);  // perhaps while it does
    if (ranks.is_first()) {
      expect_all(shares.next(true), 2);
    }
    shares.close();
  });
}

// After a restart, somebody who was ahead of rank 0 brought what rank 0 judges now before it.
TEST(RowShares, DoesNotWaitForWhatSomebodyAheadBroughtBeforeARestart) {
  on_ranks(3, [](comm::Ranks& ranks) {
    RowShares shares(ranks, {0, 1, 2}, rows);
    for (std::int64_t number = ranks.rank() == 1 ? 2 : 1; number <= 3; ++number)
      shares.bring(number, share_of(shares.own(), number));
    ranks.gather(0);  // all is on its way
    if (ranks.is_first()) {
      const auto look_often = [&] {
        std::optional<RowShares::Found> found;
        for (int look = 0; look < 20 && !found; ++look) found = shares.next(false);
        return found;
      };
      expect_all(look_often(), 2);
      expect_all(look_often(), 3);
    }
    ranks.gather(0);  // nobody has left before
    shares.close();
  });
}

}  // namespace
}  // namespace sagips::train
