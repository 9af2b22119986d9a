#include "sagips/analysis/closure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sagips/analysis/figures/closure.hpp"
#include "sagips/analysis/statistics.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/random.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::analysis {
namespace {

// Estimates of a truth of 5 that scatter by `scatter` around 5 + bias and state errors of 0.5.
std::vector<Estimate> simulated(std::size_t count, double scatter, double bias,
                                std::uint64_t seed) {
  std::vector<double> uniforms(2 * count);
  core::RandomStream(seed, "simulated estimates").uniform(0, 0, std::span(uniforms));
  std::vector<Estimate> estimates;
  for (std::size_t i = 0; i < count; ++i)
    estimates.push_back({5 + bias +
                             scatter * std::sqrt(-2 * std::log(uniforms[2 * i])) *
                                 std::cos(2 * M_PI * uniforms[2 * i + 1]),
                         0.5});
  return estimates;
}

// Three numbers within 4 of their own errors: a false alarm once in 5,000 seeds.
TEST(ClosureAnalysis, FindsUnitPullsOfHonestErrors) {
  const ClosureSummary one = summarise_closure("a", "e", 5, simulated(4000, 0.5, 0, 11));
  EXPECT_EQ(one.experiments, 4000u);
  EXPECT_NEAR(one.mean, 0, 4 * one.mean_error);
  EXPECT_NEAR(one.width, 1, 4 * one.width_error);
  EXPECT_NEAR(one.coverage, normal_coverage, 4 * one.coverage_error);
  EXPECT_NEAR(one.mean_error, 1 / std::sqrt(4000.0), 0.05 / std::sqrt(4000.0));
  EXPECT_NEAR(one.width_error, 1 / std::sqrt(8000.0), 0.1 / std::sqrt(8000.0));
  EXPECT_NEAR(one.coverage_error, std::sqrt(0.683 * 0.317 / 4000), 1e-4);
}

TEST(ClosureAnalysis, ShowsErrorsThatAreTooSmallAndABias) {
  const ClosureSummary one = summarise_closure("a", "e", 5, simulated(4000, 1, 0.25, 12));
  EXPECT_NEAR(one.width, 2, 4 * one.width_error);
  EXPECT_NEAR(one.mean, 0.5, 4 * one.mean_error);
  EXPECT_LT(one.coverage, 0.45);
}

TEST(ClosureAnalysis, StatesAnErrorOfAWidthOfAFewPulls) {
  const std::vector<Estimate> two{{5.5, 0.5}, {4.5, 0.5}};  // pulls 1 and -1
  const ClosureSummary one = summarise_closure("a", "e", 5, two);
  EXPECT_NEAR(one.width, std::sqrt(2), 1e-12);
  EXPECT_NEAR(one.width_error, 1, 1e-12) << "sqrt(2) / sqrt(2 (2 - 1))";
}

// The error of a width is what widths scatter by: 400 sets of 50, known to 3.5 %; 4 of these.
TEST(ClosureAnalysis, StatesTheErrorOfAWidthThatWidthsScatterBy) {
  std::vector<double> widths;
  double stated = 0;
  for (std::uint64_t set = 0; set < 400; ++set) {
    const ClosureSummary one = summarise_closure("a", "e", 5, simulated(50, 0.5, 0, 100 + set));
    widths.push_back(one.width);
    stated += one.width_error / 400;
  }
  EXPECT_NEAR(stated / standard_deviation(widths), 1, 0.14);
}

// Wilson's interval covers the share it is for, also where the naive one is empty.
TEST(ClosureAnalysis, StatesAnErrorOfACoverageOfOne) {
  const std::vector<Estimate> all(10, {5.1, 0.5});
  const ClosureSummary one = summarise_closure("a", "e", 5, all);
  EXPECT_EQ(one.coverage, 1);
  EXPECT_NEAR(one.coverage_error, 0.05 / 1.1, 1e-12);
}

TEST(ClosureAnalysis, CountsEstimatesWithoutAnError) {
  const std::vector<Estimate> some{{5, 0}, {5, NAN}, {NAN, 1}, {5.2, 0.1}, {4.9, 0.1}};
  const ClosureSummary one = summarise_closure("a", "e", 5, some);
  EXPECT_EQ(one.experiments, 2u);
  EXPECT_EQ(one.unusable, 3u);
  EXPECT_NEAR(one.pulls[0], 2, 1e-12);
  EXPECT_NEAR(one.pulls[1], -1, 1e-12);
}

TEST(ClosureAnalysis, WritesTableFileAndFigures) {
  std::vector<ClosureSummary> all{
      summarise_closure("N_u", "covariance, of a kind", 5, simulated(100, 0.5, 0, 1)),
      summarise_closure("a_u", "covariance, of a kind", 5, simulated(100, 0.5, 0, 2)),
      summarise_closure("N_u", "spread", 5, simulated(100, 1.5, 0, 3))};
  const std::string table = closure_table(all);
  for (const char* word : {"N_u", "covariance, of a kind", "pull width", "68.3 %"})
    EXPECT_NE(table.find(word), std::string::npos) << table;
  all[0].mean = 0.0004;
  all[0].mean_error = 0.032;
  EXPECT_NE(closure_table(all).find("0.00040 ± 0.032"), std::string::npos) << "no value vanishes";
  const testing::TemporaryFolder folder;
  write_closure_csv(folder.file("closure.csv"), all);
  EXPECT_NE(
      core::read_file(folder.file("closure.csv")).find("N_u,\"covariance, of a kind\",100,0,"),
      std::string::npos);
  std::string problem;
  EXPECT_TRUE(write_figure(closure_pulls(all), folder.file("pulls"), problem)) << problem;
  EXPECT_TRUE(write_figure(closure_coverage(all), folder.file("coverage"), problem)) << problem;
  EXPECT_EQ(closure_pulls(all).panels.size(), 2u);
  EXPECT_EQ(closure_coverage(all).panels.size(), 2u);
}

}  // namespace
}  // namespace sagips::analysis
