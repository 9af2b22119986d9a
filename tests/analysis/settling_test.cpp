#include "sagips/analysis/settling.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sagips::analysis {
namespace {

using record::Evaluated;
using record::Event;
using record::ParameterResult;

/// Evaluations at epochs 0, 10, ... 100 of a value that moves by `step` each time.
std::vector<Event> learning_curve(double step, double spread = 0.5) {
  std::vector<Event> events;
  for (int i = 0; i <= 10; ++i)
    events.push_back(Evaluated{
        std::int64_t{10} * i, 1.0 * i, {{"a", "", 2.0, false, 1 + step * i, spread, {}}}, {}, {}});
  return events;
}

TEST(Settling, MeasuresTheLastFifthInErrors) {
  ParameterResult reference;
  reference.name = "a";
  reference.error = 0.2;
  reference.floor = 0.3;
  reference.truth = 2;
  const auto move = largest_move(learning_curve(0.05), {reference});
  ASSERT_TRUE(move);
  EXPECT_NEAR(move->move, 0.1 / 0.2, 1e-9);  // from epoch 80 to 100
  EXPECT_EQ(move->unit, "error");
  EXPECT_EQ(move->from_epoch, 80);
  EXPECT_EQ(move->to_epoch, 100);
}

TEST(Settling, IsTheSameHoweverLongEpochsTook) {
  const auto even = largest_move(learning_curve(0.05), {});
  std::vector<Event> slowing = learning_curve(0.05);
  for (Event& event : slowing) {
    auto& evaluated = std::get<Evaluated>(event);
    evaluated.time_s = std::pow(evaluated.time_s, 4);  // 80 % of the time is over at epoch 94
  }
  const auto found = largest_move(slowing, {});
  ASSERT_TRUE(even && found);
  EXPECT_EQ(found->move, even->move);
  EXPECT_EQ(found->from_epoch, even->from_epoch);
}

TEST(Settling, TakesTheFloorThenTheSpreadWhereNoErrorIsKnown) {
  ParameterResult reference;
  reference.name = "a";
  reference.floor = 0.25;
  reference.truth = -2;
  EXPECT_NEAR(largest_move(learning_curve(0.05), {reference})->move, 0.1 / 0.5, 1e-9);
  const auto move = largest_move(learning_curve(0.05), {});
  EXPECT_NEAR(move->move, 0.1 / 0.5, 1e-9);
  EXPECT_EQ(move->unit, "spread");
}

TEST(Settling, SaysNothingAboutTooFewEvaluationsOrFixedParameters) {
  std::vector<Event> events = learning_curve(0.05);
  events.resize(3);
  EXPECT_FALSE(largest_move(events, {}));
  events = learning_curve(0.05);
  for (Event& event : events) std::get<Evaluated>(event).parameters[0].fixed = true;
  EXPECT_FALSE(largest_move(events, {}));
  EXPECT_FALSE(largest_move(learning_curve(0.05, 0), {})) << "no unit";
}

}  // namespace
}  // namespace sagips::analysis
