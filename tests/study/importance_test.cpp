// Which setting matters, and whether trials settle it.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

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

/// Importances in a grid of two settings with `steps` values each, the last one fastest.
std::vector<analysis::SearchedKey> in_grid(std::int64_t steps,
                                           const std::function<double(double, double)>& value_at) {
  const SettingSpace space(
      {{.key = "slow", .low = 0, .high = 1}, {.key = "fast", .low = 0, .high = 1}});
  std::vector<optim::Point> points;
  std::vector<double> values;
  for (std::int64_t i = 0; i < steps * steps; ++i) {
    const auto of = [&](std::int64_t step) {
      return (static_cast<double>(step) + 0.5) / static_cast<double>(steps);
    };
    points.push_back({of(i / steps), of(i % steps)});
    values.push_back(value_at(points.back()[0], points.back()[1]));
  }
  std::vector<analysis::SearchedKey> keys{{.name = "slow"}, {.name = "fast"}};
  find_importances(space, points, values, keys);
  return keys;
}

// Numbers of equal trials follow the slow setting of a grid: ranks by number would make it all that matters.
TEST(Importance, OfEqualTrialsIsNone) {
  const auto keys = in_grid(10, [](double slow, double fast) {
    return slow > 0.5 && slow < 0.6 && fast > 0.5 && fast < 0.6 ? 0.9 : 0.1;
  });
  for (const analysis::SearchedKey& key : keys)
    EXPECT_LE(key.importance, 2 * key.error + 1e-3) << key.name;
}

// 1,024 trials, of which 300 are seen: many values of both settings, although the fast one has a period.
TEST(Importance, OfManyTrialsIsThatOfAnEvenChoice) {
  const auto keys = in_grid(32, [](double, double fast) { return fast; });
  EXPECT_LT(keys[0].importance, 0.1);
  EXPECT_GT(keys[1].importance, 0.8);
}

}  // namespace
}  // namespace sagips::study
