#include "sagips/analysis/figures/simulation.hpp"

#include <gtest/gtest.h>

#include "sagips/core/file.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::analysis {
namespace {

using testing::TemporaryFolder;
using Family = SimulatedExchange::Family;
using Numbers = std::vector<double>;

/// A ring tensor by tensor with computation 1 ms, and an exchange that takes no time to speak of.
SimulatedTraining two_exchanges() {
  return {.exchanges = {{"ring",
                         Family::tensor_by_tensor,
                         {{4, 20e-6, 40e-6, 1.02e-3, 400}, {400, 2e-3, 2e-3, 3e-3, 40000}}},
                        {"lanes",
                         Family::exact,
                         {{4, 1e-6, 1e-6, 1.001e-3, 400}, {400, 2e-6, 1e-6, 1.002e-3, 40000}}}},
          .published = {{"paper", {4, 400}, {1.02e-3, 2.55e-3}}},
          .epochs = 1e5,
          .ranks_per_node = 4,
          .conditions = "somewhere"};
}

const Series& series_named(const Panel& panel, const std::string& label) {
  for (const Series& series : panel.series)
    if (series.label == label) return series;
  throw std::runtime_error("no series '" + label + "'");
}

void expect_numbers(const Numbers& found, const Numbers& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-9 * expected[i]);
}

TEST(SimulatedTraining, TakesItsEpochsTimesTheirNumber) {
  const Figure figure = simulated_time_over_ranks(two_exchanges());
  ASSERT_EQ(figure.panels.size(), 2u) << "a family each";
  const Panel& panel = figure.panels[0];
  EXPECT_EQ(panel.y.label, "training time of 100,000 epochs [min]");
  expect_numbers(series_named(panel, "ring").y, {1.7, 5});
  expect_numbers(series_named(panel, "paper").y, {1.7, 4.25});
  EXPECT_EQ(panel.x.marks, (Numbers{4, 400}));
  EXPECT_EQ(panel.x.above, (std::vector<std::string>{"1", "100"})) << "nodes";
  EXPECT_EQ(figure.title, "somewhere");
}

TEST(SimulatedTraining, HasTheRateOfEquationNine) {
  const Panel panel = simulated_rate_over_ranks(two_exchanges()).panels[1];
  expect_numbers(series_named(panel, "lanes").y, {400 / 1.001e-3, 40000 / 1.002e-3});
  expect_numbers(series_named(panel, "paper").y, {400 / 1.02e-3, 40000 / 2.55e-3});
  const Series& ideal = series_named(panel, "ideal: as many times the rate as ranks");
  EXPECT_NEAR(ideal.y[1] / ideal.y[0], 100, 1e-9);
}

TEST(SimulatedTraining, ShowsExchangesByThemselvesAndOverTheirPrediction) {
  const Panel alone = exchange_time_over_ranks(two_exchanges()).panels[0];
  expect_numbers(series_named(alone, "ring").y, {20, 2000});
  const Panel ratio = simulated_over_predicted(two_exchanges()).panels[1];
  expect_numbers(series_named(ratio, "lanes").y, {1, 2});
}

TEST(SimulatedTraining, LeavesOutWhatWasNotSimulated) {
  SimulatedTraining training = two_exchanges();
  for (SimulatedExchange& one : training.exchanges)
    for (SimulatedExchange::Point& point : one.points) point.epoch_s = 0;
  training.published.clear();
  const Figure figure = simulated_time_over_ranks(training);
  ASSERT_EQ(figure.panels.size(), 1u);
  EXPECT_TRUE(figure.panels[0].series.empty());
}

TEST(SimulatedTraining, CanBeDrawnWithNodesAbove) {
  const TemporaryFolder folder;
  std::string problem;
  for (const auto draw : {simulated_time_over_ranks, simulated_rate_over_ranks,
                          exchange_time_over_ranks, simulated_over_predicted})
    EXPECT_TRUE(write_figure(draw(two_exchanges()), folder.file("figure"), problem)) << problem;
  ASSERT_TRUE(
      write_figure(simulated_time_over_ranks(two_exchanges()), folder.file("nodes"), problem));
  EXPECT_NE(core::read_file(folder.file("nodes.svg")).find("nodes"), std::string::npos);
}

TEST(StragglerRates, HaveAPanelForEachWhoIsSlow) {
  const Figure figure =
      straggler_rates({{.exchange = "ring", .median = 0.2, .lowest = 0.2},
                       {.exchange = "ring", .is_leader = false, .median = 0.2, .lowest = 0.2},
                       {.exchange = "gossip", .median = 1, .lowest = 0.9}},
                      "one slow");
  ASSERT_EQ(figure.panels.size(), 2u);
  EXPECT_EQ(figure.panels[0].y.names, (std::vector<std::string>{"ring", "gossip"}));
  expect_numbers(series_named(figure.panels[0], "median").x, {0.2, 1});
  expect_numbers(series_named(figure.panels[0], "lowest").x, {0.2, 0.9});
  const TemporaryFolder folder;
  std::string problem;
  EXPECT_TRUE(write_figure(figure, folder.file("figure"), problem)) << problem;
}

}  // namespace
}  // namespace sagips::analysis
