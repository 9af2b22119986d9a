#include "sagips/analysis/scaling.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "sagips/analysis/figures/scaling.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::analysis {
namespace {

using testing::TemporaryFolder;

/// One rank computes 8 s of an epoch of 10 s; four take 4 s for the same rows.
std::vector<ScalingRow> one_and_four_ranks() {
  ScalingRow one{.variant = "1 rank", .series = "1 rank", .batch = 100, .members = 2};
  one.epoch_s = 10;
  one.epoch_s_deviation = 0.3;
  one.rows = 1000;
  one.parts_s = {8, 0, 0, 1, 1, 0};
  ScalingRow four{
      .variant = "ring, 4 ranks", .series = "ring", .ranks = 4, .batch = 100, .members = 2};
  four.epoch_s = 4;
  four.epoch_s_deviation = 0.16;
  four.rows = 1000;
  four.parts_s = {2, 1, 0.5, 0.25, 0.25, 0};
  std::vector<ScalingRow> rows{one, four};
  compare_with_one_rank(rows, 0);
  return rows;
}

double sum(const TimeParts& parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }

TEST(Scaling, IsRelativeToOneRank) {
  const auto rows = one_and_four_ranks();
  EXPECT_DOUBLE_EQ(*rows[0].speed_up, 1);
  EXPECT_DOUBLE_EQ(*rows[1].rows_per_second, 250);
  EXPECT_DOUBLE_EQ(*rows[1].speed_up, 2.5);
  EXPECT_DOUBLE_EQ(*rows[1].efficiency, 0.625);
  EXPECT_NEAR(*rows[1].speed_up_deviation, 2.5 * 0.05, 1e-12) << "3 and 4 % in squares";
}

TEST(Scaling, LosesWhatAnEventTakesMoreOfEachPart) {
  const auto rows = one_and_four_ranks();
  const auto lost = lost_parts(rows[1], rows);
  ASSERT_TRUE(lost);
  EXPECT_NEAR(sum(*lost), 1 - 0.625, 1e-12) << "they add up to the loss";
  EXPECT_NEAR((*lost)[0], 0, 1e-12) << "four ranks compute as long as one, together";
  EXPECT_NEAR((*lost)[1], 0.25, 1e-12) << "exchange";
  EXPECT_NEAR((*lost)[2], 0.125, 1e-12) << "idle";
  const std::string text = losses_text(rows);
  EXPECT_NE(
      text.find("ring, 4 ranks: speed-up 2.50 of 4; of the 38 % lost: 25 exchange, 12 idle\n"),
      std::string::npos)
      << text;
}

TEST(Scaling, OfSimulatedRanksIsThatAgainstOneThatComputesAsLong) {
  auto rows = one_and_four_ranks();
  ScalingRow many{.variant = "ring, 8 ranks", .series = "ring", .simulated = true, .ranks = 8};
  many.epoch_s = 1.5;
  many.rows = 1000;
  many.parts_s = {1.2, 0.2, 0.1};
  rows.push_back(many);
  compare_with_one_rank(rows, 9.6);
  EXPECT_NEAR(*rows[2].speed_up, 6.4, 1e-12);
  EXPECT_NEAR(*rows[2].efficiency, 0.8, 1e-12);
  const auto lost = lost_parts(rows[2], rows);
  ASSERT_TRUE(lost);
  EXPECT_NEAR((*lost)[0], 0, 1e-12);
  EXPECT_NEAR((*lost)[1], 0.2 / 1.5, 1e-12);
  EXPECT_NEAR((*lost)[2], 0.1 / 1.5, 1e-12);
}

TEST(Scaling, SaysWhyOnePartitionScalesBetter) {
  auto rows = one_and_four_ranks(), others = one_and_four_ranks();
  others[1].epoch_s = 5;
  others[1].parts_s = {2, 2, 0.5, 0.25, 0.25, 0};
  compare_with_one_rank(others, 0);
  for (ScalingRow& row : others) {
    row.study = "slow_net";
    rows.push_back(row);
  }
  const std::string text = losses_text(rows);
  EXPECT_NE(text.find("at 4 ranks, ring scales better here than in slow_net, by 12 points: 15 "
                      "exchange, -3 idle\n"),
            std::string::npos)
      << text;
}

TEST(Scaling, RowsReadBackAsTheyWereWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/scaling.csv";
  auto rows = one_and_four_ranks();
  rows[1].simulated = true;
  rows[0].target_s = 3.25;
  rows[0].at_target = 2;
  write_scaling_rows(path, rows);
  const auto read = read_scaling_rows(path);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[1].variant, "ring, 4 ranks") << "a comma is in quotes";
  EXPECT_TRUE(read[1].simulated);
  EXPECT_EQ(read[1].ranks, 4);
  EXPECT_EQ(read[1].speed_up, rows[1].speed_up);
  EXPECT_EQ(read[1].parts_s, rows[1].parts_s);
  EXPECT_EQ(read[0].target_s, 3.25);
  EXPECT_EQ(read[0].at_target, 2);
  EXPECT_FALSE(read[1].target_s) << "what is not known stays so";
  core::write_file(path, "variant,ranks\na,2\n");
  EXPECT_THROW(read_scaling_rows(path), core::DataError);
}

TEST(Scaling, FiguresTellMeasuredFromSimulatedAndShowPublishedOnes) {
  auto rows = one_and_four_ranks();
  rows.push_back(rows[1]);
  rows[2].simulated = true;
  rows[2].ranks = 8;
  const Figure figure = speed_up_over_ranks(rows, published_scaling("calorimeter"));
  std::vector<std::string> labels;
  int open = 0;
  for (const Series& series : figure.panels[0].series) {
    if (!series.label.empty()) labels.push_back(series.label);
    open += series.mark == Series::Mark::circle ? 1 : 0;
  }
  EXPECT_EQ(labels, (std::vector<std::string>{"ideal", "ring", "ring, simulated",
                                              "calorimeter GAN, V100, against 2"}));
  EXPECT_EQ(open, 1);
  EXPECT_THROW(published_scaling("horovodd"), core::ConfigError);
}

TEST(Scaling, BatchesHaveBarsWhereAllTrainingsWereRepeated) {
  auto rows = one_and_four_ranks();
  rows[0].metric = 0.5;
  rows[0].metric_deviation = 0.1;
  ScalingRow batch{.variant = "batch 200, rate: none", .batch = 200, .rates = "none", .members = 2};
  batch.epoch_s = 8;
  batch.epoch_s_deviation = 0.32;
  batch.rows = 1000;
  batch.metric = 0.25;
  batch.metric_deviation = 0.05;
  rows.push_back(batch);
  compare_with_one_rank(rows, 0);
  const Series faster = batch_study(rows, {.metric = "loss"}).panels[0].series[1];
  EXPECT_EQ(faster.y, (std::vector<double>{1, 1.25}));
  ASSERT_EQ(faster.y_low.size(), 2u);
  EXPECT_EQ(faster.y_low[0], 1) << "what others are relative to";
  EXPECT_NEAR(faster.y_high[1], 1.25 * 1.05, 1e-12);
  const Series metric = batch_study(rows, {.metric = "loss"}).panels[1].series[1];
  EXPECT_EQ(metric.y_low, (std::vector<double>{0.4, 0.2}));
  rows.back().metric_deviation.reset();
  EXPECT_TRUE(batch_study(rows, {.metric = "loss"}).panels[1].series[1].y_low.empty())
      << "of some alone they would mislead";
}

TEST(Scaling, RatesStandBesideTheIdealGain) {
  auto rows = one_and_four_ranks();
  rows[0].events_per_second = 100;
  rows[1].events_per_second = 300;
  const Panel panel = rate_over_ranks(rows).panels.front();
  EXPECT_EQ(panel.series[0].y, (std::vector<double>{100, 300})) << "one rank serves the series";
  EXPECT_EQ(panel.series.back().x, (std::vector<double>{1, 4}));
  EXPECT_EQ(panel.series.back().y, (std::vector<double>{100, 400}));
}

TEST(Scaling, SeriesOfOuterPeriodsAndBatchesAreNone) {
  auto rows = one_and_four_ranks();
  rows.push_back(rows[1]);
  rows[2].series.clear();
  rows[2].variant = "ring, h = 5";
  EXPECT_EQ(speed_tables(rows, "events").find("h = 5"), std::string::npos);
}

TEST(Scaling, BarsOfTheTimeSplitStandOneBehindTheOther) {
  const Panel panel = time_split(one_and_four_ranks()).panels.front();
  EXPECT_EQ(panel.y.names, (std::vector<std::string>{"ring, 4 ranks", "1 rank"}))
      << "the first one on top";
  ASSERT_EQ(panel.series.size(), 5u) << "nothing is `other`";
  EXPECT_EQ(panel.series[0].label, "compute");
  EXPECT_EQ(panel.series[0].y_high, (std::vector<double>{50, 80}));
  EXPECT_EQ(panel.series[1].y_low, (std::vector<double>{50, 80}));
  EXPECT_EQ(panel.series[1].y_high, (std::vector<double>{75, 80}));
  EXPECT_EQ(panel.series.back().y_high, (std::vector<double>{100, 100}));
}

}  // namespace
}  // namespace sagips::analysis
