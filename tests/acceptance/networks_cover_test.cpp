// Trainings of a tenth, a third and all of their epochs: the errors that they state are right, or there are
// none. SAGIPS_EXPERIMENTS=100 makes 100 data sets of each problem, which takes some hours.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "sagips/core/text.hpp"
#include "sagips/record/results.hpp"
#include "tests/cli/command.hpp"

namespace {

struct Problem {
  std::string name, source, folder;
  int epochs;
  bool always_states;  // at the end of all its epochs
};

const std::string decay =
    "workload: custom\n"
    "parameters: {lifetime: {low: 0.1, high: 5, toy: 2.2}, fraction: {low: 0, high: 1, toy: 0.2}}\n"
    "observables: [t]\n"
    "pipeline: [{plugin: \"" SAGIPS_PLUGIN_FILE "\", stage: decay_with_background}]\n";

class Networks : public ::testing::TestWithParam<Problem> {};

// Coverage of 68 % within 3.5 standard errors: false alarm 5e-4 each.
TEST_P(Networks, StateErrorsThatCoverOrNone) {
  const char* asked = std::getenv("SAGIPS_EXPERIMENTS");
  const int toys = asked ? std::atoi(asked) : 5;
  const Problem& problem = GetParam();
  for (const int share : {10, 3, 1}) {
    std::map<std::string, std::pair<int, int>> covered;  // of how many, by parameter
    int stated = 0;
    double farthest = 0;
    for (int seed = 1; seed <= toys; ++seed) {
      Scratch scratch;
      scratch.write("decay.yaml", decay);
      const Outcome run = scratch.sagips(sagips::core::text(
          "train ", problem.source, " run.name=x run.figures=false run.seed=", seed,
          " train.epochs=", problem.epochs / share));
      ASSERT_EQ(run.exit_code, 0) << run.err;
      const sagips::record::Results results = sagips::record::read_results_json(
          scratch.path() + "/runs/" + problem.folder + "/x/results.json");
      bool any = false;
      for (const auto& row : results.parameters) {
        const std::optional<double> pull = sagips::record::pull(row);
        if (!pull) continue;
        any = true;
        auto& [hits, all] = covered[row.name];
        ++all;
        if (std::abs(*pull) < 1) ++hits;
        farthest = std::max(farthest, std::abs(*pull));
      }
      stated += any ? 1 : 0;
    }
    std::cout << problem.name << ", 1/" << share << " of its epochs: " << stated << " of " << toys
              << " state errors, farthest " << sagips::core::fixed(farthest, 1);
    for (const auto& [name, counts] : covered) {
      const auto [hits, all] = counts;
      std::cout << "; " << name << ' ' << hits << '/' << all;
      EXPECT_LT(std::abs(hits - 0.6827 * all), 3.5 * std::sqrt(0.2166 * all)) << name;
    }
    std::cout << '\n';
    EXPECT_LT(farthest, 5);
    if (share == 1 && problem.always_states) {
      EXPECT_EQ(stated, toys);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(
    Problems, Networks,
    ::testing::Values(Problem{"proxy1d", "proxy1d/cold", "proxy1d", 8'000, true},
                      Problem{"resonance", "resonance", "resonance", 1'500, true},
                      Problem{"decay", "decay.yaml", "custom", 1'500, false}),
    [](const auto& given) { return given.param.name; });

}  // namespace
