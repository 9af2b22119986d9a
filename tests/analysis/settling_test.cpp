#include "sagips/analysis/settling.hpp"

#include <gtest/gtest.h>

namespace sagips::analysis {
namespace {

using record::Evaluated;
using record::Event;
using record::ParameterResult;

/// Evaluations at 0, 10, ... 100 s of a value that moves by `step` each time.
std::vector<Event> course(double step, double spread = 0.5) {
  std::vector<Event> events;
  for (int i = 0; i <= 10; ++i)
    events.push_back(
        Evaluated{i, 10.0 * i, {{"a", "", 2.0, false, 1 + step * i, spread, {}}}, {}, {}});
  return events;
}

TEST(Settling, MeasuresTheLastFifthInErrors) {
  ParameterResult reference;
  reference.name = "a";
  reference.error = 0.2;
  reference.floor = 0.3;
  reference.truth = 2;
  const auto move = largest_move(course(0.05), {reference});
  ASSERT_TRUE(move);
  EXPECT_NEAR(move->move, 0.1 / 0.2, 1e-9);  // from 80 s to 100 s
  EXPECT_EQ(move->unit, "error");
  EXPECT_EQ(move->from_s, 80);
  EXPECT_EQ(move->to_s, 100);
}

TEST(Settling, TakesTheFloorThenTheSpreadWhereNoErrorIsKnown) {
  ParameterResult reference;
  reference.name = "a";
  reference.floor = 0.25;
  reference.truth = -2;
  EXPECT_NEAR(largest_move(course(0.05), {reference})->move, 0.1 / 0.5, 1e-9);
  const auto move = largest_move(course(0.05), {});
  EXPECT_NEAR(move->move, 0.1 / 0.5, 1e-9);
  EXPECT_EQ(move->unit, "spread");
}

TEST(Settling, SaysNothingAboutTooFewEvaluationsOrFixedParameters) {
  std::vector<Event> events = course(0.05);
  events.resize(3);
  EXPECT_FALSE(largest_move(events, {}));
  events = course(0.05);
  for (Event& event : events) std::get<Evaluated>(event).parameters[0].fixed = true;
  EXPECT_FALSE(largest_move(events, {}));
  EXPECT_FALSE(largest_move(course(0.05, 0), {})) << "no unit";
}

}  // namespace
}  // namespace sagips::analysis
