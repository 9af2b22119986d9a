// How many solutions there are, and what limits near the ends of ranges are worth.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <iostream>
#include <set>

#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "sagips/optim/moments/moments.hpp"
#include "tests/workloads/closure_problems.hpp"
#include "workloads/proxy2d/proxy2d.hpp"

namespace sagips {
namespace {

using namespace testing;

optim::Solution solve(const env::Environment& environment, std::uint64_t seed) {
  optim::SolveContext context;
  context.seed = seed;
  return optim::MomentSolver({}).solve(environment, context);
}

/// A normal pair whose scales are squares, so that two signs are open.
/// source: Papamakarios, Sterratt and Murray, arXiv 1805.07226, App. A.1
struct SquaredScales {
  Tensor operator()(Tensor p, Noise& noise) const {
    const Tensor first = noise.normal(), second = noise.normal();
    const Tensor correlation = torch::tanh(column(p, 4));
    const Tensor mixed = correlation * first + torch::sqrt(1 - correlation.square()) * second;
    return torch::stack({column(p, 0) + column(p, 2).square() * first,
                         column(p, 1) + column(p, 3).square() * mixed},
                        2);
  }
};

TEST(Solutions, AreFourOfFourOn20DataSets) {
  at::set_num_threads(1);
  const Problem problem =
      own("squared scales", env::Pipeline{SquaredScales{}},
          {small_parameter("m_1", -3, 3, 0.7), small_parameter("m_2", -3, 3, -0.9),
           small_parameter("t_1", -3, 3, -1.1), small_parameter("t_2", -3, 3, 0.9),
           small_parameter("t_3", -3, 3, 0.6)},
          {"x", "y"});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const optim::Solution best = solve(problem.make(seed, 5'000), seed);
    std::set<std::array<bool, 2>> signs = {{best.values[2] > 0, best.values[3] > 0}};
    for (const optim::Solution& other : best.others)
      signs.insert({other.values[2] > 0, other.values[3] > 0});
    EXPECT_EQ(signs.size(), 4U) << seed;
    EXPECT_EQ(best.others.size(), 3U) << seed;
  }
}

TEST(Solutions, AreOneOn20DataSets) {
  at::set_num_threads(1);
  const std::vector<Problem> all = problems();
  const std::vector<std::pair<Problem, std::int64_t>> single = {
      {all[5], 20'000},
      {shipped("proxy2d", workloads::proxy2d_workload()), 100'000},
      {all[6], 10'000},
      {all[4], 5'000}};
  for (const auto& [problem, events] : single)
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const optim::Solution best = solve(problem.make(seed, events), seed);
      EXPECT_TRUE(best.others.empty()) << problem.name << ' ' << seed << ": " << best.others.size();
    }
}

// 200 toys whose mean lies one error from the lower end of its range. Where none is stated, two errors away
// from the end, the limit is that of a parabola. It holds in 96.8 %: where the estimate sits at the end it is
// wider. 3.5 standard errors of 95 %: false alarm below 2e-4.
TEST(Limits, HoldOn200Toys) {
  at::set_num_threads(1);
  constexpr int toys = 200;
  constexpr double events = 2'000;
  const double error = 0.5 / std::sqrt(events);
  const Problem problem = own(
      "near an end", env::Pipeline{Normal{}},
      {small_parameter("mean", 1.5 - error, 4, 1.5), small_parameter("width", 0.1, 2, 0.5)}, {"x"});
  int stated = 0, hold = 0;
  for (std::uint64_t seed = 1; seed <= toys; ++seed) {
    const optim::Solution found =
        solve(problem.make(seed, static_cast<std::int64_t>(events)), seed);
    EXPECT_FALSE(found.lower_limits[0].has_value()) << "the other end is far";
    if (found.upper_limits[0]) ++stated;
    if (1.5 < found.upper_limits[0].value_or(found.values[0] + 1.645 * found.errors[0])) ++hold;
  }
  std::cout << stated << " of 200 toys with a limit; " << hold << " of 200 hold\n";
  EXPECT_GT(stated, 0.75 * toys) << "an estimate within two errors of the end: 84 %";
  EXPECT_GT(hold, 0.95 * toys - 3.5 * std::sqrt(0.0475 * toys));
}

}  // namespace
}  // namespace sagips
