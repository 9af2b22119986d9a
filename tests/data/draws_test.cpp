#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/data/loading.hpp"

namespace sagips::data {
namespace {

using namespace sagips::testing;

/// Event i holds (i, -i), so that a row that was torn apart shows.
Dataset counting(std::int64_t events) {
  const torch::Tensor first = torch::arange(events, torch::kFloat32);
  return {torch::stack({first, -first}, 1), std::nullopt, {"x", "y"}, {{"norm", 2.0}}, "counting"};
}

std::vector<float> first_column(const torch::Tensor& values) {
  EXPECT_TRUE(torch::equal(values.select(1, 0), -values.select(1, 1))) << "rows stay whole";
  return numbers(values.select(1, 0));
}

std::vector<double> counts_of(const torch::Tensor& drawn, std::int64_t events) {
  std::vector<double> counts(static_cast<std::size_t>(events), 0.0);
  for (const float event : first_column(drawn)) counts[static_cast<std::size_t>(event)] += 1.0;
  return counts;
}

double chi_square(const std::vector<double>& counts, const std::vector<double>& expected) {
  double sum = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    sum += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
  return sum;
}

// False alarm 1e-6: chi-square with 9 degrees of freedom above 44.8.
TEST(DrawEvents, DrawsEveryEventEquallyOften) {
  constexpr std::int64_t count = 50'000;
  const torch::Tensor drawn = draw_events(counting(10), count, core::RandomStream(1, "batch"));
  EXPECT_EQ(drawn.sizes(), (std::vector<std::int64_t>{count, 2}));
  EXPECT_LT(chi_square(counts_of(drawn, 10), std::vector<double>(10, 5000.0)), 44.8);
}

// False alarm 1e-6: chi-square with 2 degrees of freedom above 27.7.
TEST(DrawEvents, FollowsTheWeightsAndNeverDrawsAWeightOfZero) {
  Dataset dataset = counting(5);
  dataset.weights = torch::tensor({0.0F, 1.0F, 2.0F, 5.0F, 0.0F});
  const torch::Tensor drawn = draw_events(dataset, 80'000, core::RandomStream(2, "batch"));
  const std::vector<double> counts = counts_of(drawn, 5);
  EXPECT_EQ(counts[0], 0.0);
  EXPECT_EQ(counts[4], 0.0);
  const std::vector<double> middle(counts.begin() + 1, counts.begin() + 4);
  EXPECT_LT(chi_square(middle, {10'000, 20'000, 50'000}), 27.7);
}

TEST(DrawEvents, RepeatsItselfForTheSameStreamOnly) {
  const Dataset dataset = counting(1000);
  const core::RandomStream stream(3, "batch", 5);
  const torch::Tensor drawn = draw_events(dataset, 64, stream);
  EXPECT_TRUE(torch::equal(drawn, draw_events(dataset, 64, stream)));
  EXPECT_FALSE(torch::equal(drawn, draw_events(dataset, 64, stream.at_step(6))));
}

TEST(DrawEvents, RefusesNothingToDrawFrom) {
  const core::RandomStream stream(3, "batch");
  EXPECT_THROW(draw_events(counting(0), 4, stream), core::DataError);
  Dataset weightless = counting(2);
  weightless.weights = torch::zeros({2});
  EXPECT_THROW(draw_events(weightless, 4, stream), core::DataError);
}

TEST(Bootstrap, DrawsAsManyEventsAgainWithTheirWeights) {
  Dataset dataset = counting(2000);
  dataset.weights = torch::arange(2000, torch::kFloat32) * 2;
  const Dataset again = bootstrap(dataset, core::RandomStream(4, "bootstrap"));
  EXPECT_EQ(again.size(), 2000);
  EXPECT_EQ(again.observables, dataset.observables);
  EXPECT_EQ(again.reference, dataset.reference);
  EXPECT_TRUE(torch::equal(*again.weights, again.values.select(1, 0) * 2));
  // The share of distinct events is 1 - 1/e = 0.632 with a deviation of 0.311 / sqrt(2000) = 0.007;
  // false alarm beyond five deviations: 6e-7.
  const std::vector<float> events = first_column(again.values);
  const double distinct =
      static_cast<double>(std::set<float>(events.begin(), events.end()).size()) / 2000.0;
  EXPECT_NEAR(distinct, 1.0 - std::exp(-1.0), 0.035);
}

TEST(Subsample, KeepsTheRoundedShareInOrderAndOnce) {
  const core::RandomStream stream(5, "sub-sample");
  const Dataset part = subsample(counting(1000), 0.2504, stream);
  EXPECT_EQ(part.size(), 250);
  const std::vector<float> events = first_column(part.values);
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end()));
  EXPECT_EQ(std::adjacent_find(events.begin(), events.end()), events.end());
  EXPECT_TRUE(torch::equal(subsample(counting(50), 1.0, stream).values, counting(50).values));
}

// Each event is kept with probability 1/4: over 4,000 streams the counts of 8 events scatter by
// 4000 * 3/16; chi-square (7 of 8 are free, kept events are anticorrelated) above 40.5 has a false
// alarm of 1e-6.
TEST(Subsample, KeepsEveryEventEquallyOften) {
  std::vector<double> counts(8, 0.0);
  for (std::uint32_t step = 0; step < 4000; ++step) {
    const core::RandomStream stream(6, "sub-sample", step);
    const std::vector<float> kept = first_column(subsample(counting(8), 0.25, stream).values);
    for (const float event : kept) counts[static_cast<std::size_t>(event)] += 1.0;
  }
  double sum = 0.0;
  const double variance = 4000.0 * 3.0 / 16.0;
  for (const double count : counts) sum += (count - 1000.0) * (count - 1000.0) / variance;
  EXPECT_LT(sum * 7.0 / 8.0, 40.5);
}

TEST(Subsample, RefusesSharesThatLeaveNothing) {
  const core::RandomStream stream(5, "sub-sample");
  EXPECT_EQ(message_of<core::ConfigError>([&] { subsample(counting(10), 0.01, stream); }),
            "fraction = 0.01 leaves none of 10 events. Raise it.");
  for (const double wrong : {0.0, -0.5, 1.5, std::nan("")})
    EXPECT_THROW(subsample(counting(10), wrong, stream), core::ConfigError) << wrong;
}

TEST(HoldOut, SplitsEveryEventToOneSide) {
  Dataset dataset = counting(100);
  dataset.weights = torch::arange(100, torch::kFloat32) * 2;
  const auto [training, held_out] = hold_out(dataset, 0.3, core::RandomStream(7, "hold-out"));
  EXPECT_EQ(training.size(), 70);
  EXPECT_EQ(held_out.size(), 30);
  std::vector<float> all = first_column(training.values);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  const std::vector<float> aside = first_column(held_out.values);
  EXPECT_TRUE(std::is_sorted(aside.begin(), aside.end()));
  all.insert(all.end(), aside.begin(), aside.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, first_column(dataset.values));
  EXPECT_TRUE(torch::equal(*held_out.weights, held_out.values.select(1, 0) * 2));
}

TEST(HoldOut, LeavesAtLeastOneEventOnEachSide) {
  const core::RandomStream stream(7, "hold-out");
  EXPECT_EQ(hold_out(counting(2), 0.01, stream).second.size(), 1);
  EXPECT_EQ(hold_out(counting(2), 0.9, stream).first.size(), 1);
  const auto [training, held_out] = hold_out(counting(5), 0.0, stream);
  EXPECT_TRUE(torch::equal(training.values, counting(5).values));
  EXPECT_EQ(held_out.size(), 0);
  EXPECT_EQ(held_out.dimensions(), 2);
}

TEST(Fold, HoldsEachEventOutOnce) {
  Dataset dataset = counting(11);
  dataset.weights = torch::arange(11, torch::kFloat32) * 2;
  const core::RandomStream stream(7, "folds");
  std::vector<float> aside;
  for (std::int64_t number = 0; number < 3; ++number) {
    const auto [training, held_out] = fold(dataset, number, 3, stream);
    EXPECT_GE(held_out.size(), 3);
    EXPECT_EQ(training.size() + held_out.size(), 11);
    EXPECT_TRUE(torch::equal(*held_out.weights, held_out.values.select(1, 0) * 2));
    std::vector<float> both = first_column(training.values);
    for (const float event : first_column(held_out.values)) {
      aside.push_back(event);
      both.push_back(event);
    }
    std::sort(both.begin(), both.end());
    EXPECT_EQ(both, first_column(dataset.values)) << number;
  }
  std::sort(aside.begin(), aside.end());
  EXPECT_EQ(aside, first_column(dataset.values));
}

TEST(Fold, RefusesWhatThereIsNot) {
  const core::RandomStream stream(7, "folds");
  EXPECT_THROW(fold(counting(10), 0, 1, stream), core::ConfigError);
  EXPECT_THROW(fold(counting(10), 3, 3, stream), core::ConfigError);
  EXPECT_THROW(fold(counting(10), -1, 3, stream), core::ConfigError);
  EXPECT_THROW(fold(counting(2), 0, 3, stream), core::ConfigError);
}

// Values that memory has no room for lie in a file that is mapped.
TEST(Draws, AreTheSameWhereverTheEventsLie) {
  Dataset held = counting(1000);
  held.weights = torch::arange(1000, torch::kFloat32);
  Dataset mapped = held;
  mapped.memory_bytes = 0;
  const core::RandomStream stream(6, "parts");
  const auto expect_same = [](const Dataset& one, const Dataset& other) {
    EXPECT_TRUE(one.values.equal(other.values));
    EXPECT_TRUE(one.weights->equal(*other.weights));
  };
  expect_same(bootstrap(held, stream), bootstrap(mapped, stream));
  expect_same(subsample(held, 0.3, stream), subsample(mapped, 0.3, stream));
  const auto [training, aside] = hold_out(held, 0.3, stream);
  const auto [mapped_training, mapped_aside] = hold_out(mapped, 0.3, stream);
  expect_same(training, mapped_training);
  expect_same(aside, mapped_aside);
  // a part of a part outlives what it is taken from
  const auto [others, part] = fold(hold_out(mapped, 0.3, stream).first, 1, 3, stream);
  expect_same(part, fold(training, 1, 3, stream).second);
}

// Beyond 2^24 events parts are drawn one by one, without an order of all.
TEST(Draws, CutManyEventsIntoParts) {
  constexpr std::int64_t events = (std::int64_t{1} << 24) + 5;
  Dataset many{
      torch::arange(events, torch::kFloat32).unsqueeze(1), std::nullopt, {"x"}, {}, "many"};
  many.values.select(1, 0).slice(0, std::int64_t{1} << 24).fill_(-1);  // no number of its own
  const auto [training, aside] = hold_out(many, 0.25, core::RandomStream(7, "parts"));
  ASSERT_EQ(aside.size(), std::llround(0.25 * events));
  ASSERT_EQ(training.size() + aside.size(), events);
  const torch::Tensor seen = torch::zeros({events}, torch::kUInt8);
  for (const Dataset* part : {&training, &aside}) {
    const torch::Tensor numbers = part->values.select(1, 0).to(torch::kInt64);
    seen.index_fill_(0, numbers.masked_select(numbers >= 0), 1);
    EXPECT_TRUE(numbers.masked_select(numbers >= 0).diff().gt(0).all().item<bool>()) << "in order";
  }
  EXPECT_EQ(seen.sum().item<std::int64_t>(), std::int64_t{1} << 24);
}

TEST(HoldOut, RefusesSharesItCannotGive) {
  const core::RandomStream stream(7, "hold-out");
  EXPECT_THROW(hold_out(counting(1), 0.1, stream), core::ConfigError);
  for (const double wrong : {-0.1, 0.91, std::nan("")})
    EXPECT_THROW(hold_out(counting(10), wrong, stream), core::ConfigError) << wrong;
}

}  // namespace
}  // namespace sagips::data
