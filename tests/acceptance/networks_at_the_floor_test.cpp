// The recommended setting of proxy1d on ten data sets, networks of their own for each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>

#include "sagips/record/results.hpp"
#include "tests/cli/command.hpp"

namespace {

// Largest distance of a parameter from the maximum-likelihood fit of the same data, in floors.
double farthest(const sagips::record::Results& results) {
  double worst = 0;
  for (const auto& row : results.parameters)
    if (!row.fixed)
      worst = std::max(worst, std::abs(row.recovered - row.fit_value.value()) /
                                  (row.floor.value() * std::abs(row.truth.value())));
  return worst;
}

}  // namespace

// No false alarm by chance: each run repeats bit for bit.
TEST(NetworksOfProxy1d, AreWithinOneAndAHalfFloorsOfTheFitOnNineOfTenSeeds) {
  int within = 0;
  for (int seed = 1; seed <= 10; ++seed) {
    Scratch scratch;
    const Outcome run = scratch.sagips(
        "train proxy1d run.name=x run.figures=false "
        "generator.finish=networks run.seed=" +
        std::to_string(seed));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const double distance = farthest(
        sagips::record::read_results_json(scratch.path() + "/runs/proxy1d/x/results.json"));
    std::cout << "seed " << seed << ": " << distance << " floors from the fit\n";
    if (distance < 1.5) ++within;
  }
  EXPECT_GE(within, 9);
}
