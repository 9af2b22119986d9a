// Which setting matters, and whether trials settle it.
#include <gtest/gtest.h>

#include <cmath>

#include "sagips/core/text.hpp"
#include "sagips/optim/search/search_numbers.hpp"
#include "sagips/study/tune/tune_results.hpp"

namespace sagips::study {
namespace {

constexpr std::size_t settings = 3;
constexpr int searches = 20;

/// Of so many searches at random points: how many say which setting matters most, and how many say the
/// first one. part: of the metric's deviation that the first setting decides
struct Settled {
  int all = 0, right = 0;
};
Settled settled(std::size_t trials, double part) {
  std::vector<TunedKey> tuned;
  for (std::size_t key = 0; key < settings; ++key)
    tuned.push_back({.key = core::text("key", key), .low = 0, .high = 1});
  const SettingSpace space(tuned);
  Settled count;
  for (int search = 0; search < searches; ++search) {
    optim::SearchNumbers numbers(core::RandomStream(static_cast<std::uint64_t>(search), "test"));
    analysis::SearchedSettings found{.metric = "loss", .keys = {}, .trials = {}};
    for (const TunedKey& key : tuned) found.keys.push_back({.name = key.key});
    std::vector<optim::Point> points;
    std::vector<double> values;
    for (std::size_t i = 0; i < trials; ++i) {
      points.push_back(space.space().placed(numbers.point(settings)));
      const double chance = numbers.point(2)[1] - 0.5;  // deviation of x - 1/2
      values.push_back(
          std::exp(4 * (part * (points.back()[0] - 0.5) + std::sqrt(1 - part * part) * chance)));
    }
    found.trials.resize(trials);
    find_importances(space, points, values, found.keys);
    const auto leading = analysis::leading_setting(found);
    count.all += leading.is_settled ? 1 : 0;
    count.right += leading.is_settled && leading.answer == "key0" ? 1 : 0;
  }
  return count;
}

TEST(Importance, IsSettledWhereOneSettingDecides) {
  EXPECT_GE(settled(20, 1).right, 0.9 * searches);    // 100 of 100
  EXPECT_GE(settled(30, 0.9).right, 0.9 * searches);  // 99 of 100
}

// 4 of 100 searches by chance alone, of 10 trials 8. At 8 % more than 5 of 20 are so in 0.4 %.
TEST(Importance, IsNotSettledByChance) { EXPECT_LE(settled(20, 0).all, 5); }

}  // namespace
}  // namespace sagips::study
