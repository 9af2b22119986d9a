#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>

#include "sagips/core/npy.hpp"
#include "sagips/record/results.hpp"
#include "tests/cli/command.hpp"

namespace {

using sagips::record::Results;

Results results_of(const Scratch& scratch, const std::string& run) {
  return sagips::record::read_results_json(scratch.path() + "/runs/" + run + "/results.json");
}

// covariance.npy belongs to the errors of the answer; where sides differ, one number is the largest of all.
// error: of the table
void expect_covariance(const Scratch& scratch, const std::string& run,
                       std::optional<double> sagips::record::ParameterResult::*error) {
  const auto covariance =
      sagips::core::read_npy(scratch.path() + "/runs/" + run + "/covariance.npy");
  std::vector<double> errors, sides;
  for (const auto& row : results_of(scratch, run).parameters) {
    if (row.fixed) continue;
    errors.push_back((row.*error).value());
    sides.push_back(std::max(row.error_below.value_or(0), row.error_above.value_or(0)));
  }
  ASSERT_EQ(covariance.shape, (std::vector<std::size_t>{errors.size(), errors.size()})) << run;
  for (std::size_t i = 0; i < errors.size(); ++i)
    EXPECT_NEAR(std::max(std::sqrt(covariance.values[i * (errors.size() + 1)]), sides[i]),
                errors[i], 1e-9 * errors[i])
        << run;
}

// Two peaks over a flat background, where the pipeline has one over an exponential.
std::string two_peaks() {
  std::ostringstream csv;
  csv << "M\n";
  for (int i = 0; i < 4000; ++i) csv << 90 + 0.0005 * i << '\n' << 70 + 0.01 * i << '\n';
  for (int i = 0; i < 2000; ++i) csv << 78 + 0.001 * i << '\n';
  return csv.str();
}

}  // namespace

TEST(Solve, StatesErrorsWhereTheyComeFromAndAGoodnessOfFit) {
  Scratch scratch;
  const Outcome run = scratch.sagips(
      "solve resonance run.name=s run.figures=false solve.bootstraps=10 solve.seeds=3");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const std::string word : {"±", "bootstraps", "seeds", "pull", "floor", "chi2 of the moments",
                                 "energy distance", "errors: covariance of the moments"})
    EXPECT_NE(run.out.find(word), std::string::npos) << word << '\n' << run.out;
  for (const std::string file :
       {"README.txt", "config.yaml", "log.txt", "results.json", "summary.csv", "visits.csv"})
    EXPECT_TRUE(scratch.has("runs/resonance/s/" + file)) << file;
  const Results results = results_of(scratch, "resonance/s");
  EXPECT_EQ(results.method, "moments");
  EXPECT_EQ(results.goodness.size(), 2u);
  expect_covariance(scratch, "resonance/s", &sagips::record::ParameterResult::error);
  for (const auto& row : results.parameters) {
    EXPECT_EQ(row.error.has_value(), !row.fixed) << row.name;
    EXPECT_EQ(row.bootstrap_error.has_value(), !row.fixed) << row.name;
  }
}

TEST(Solve, WarnsWhenThePipelineCannotDescribeTheData) {
  Scratch scratch;
  scratch.write("peaks.csv", two_peaks());
  const Outcome run =
      scratch.sagips("solve resonance data.file=peaks.csv run.name=s run.figures=false");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("the pipeline does not describe these data: chi2 of the moments"),
            std::string::npos)
      << run.err;
}

TEST(Solve, TakesOtherMethods) {
  Scratch scratch;
  const Outcome fit = scratch.sagips(
      "solve resonance solve.method=likelihood run.name=l run.figures=false toy.events=2000");
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  EXPECT_NE(fit.out.find("inverse Hessian"), std::string::npos) << fit.out;
  const Outcome direct = scratch.sagips(
      "solve resonance solve.method=direct run.name=d run.figures=false toy.events=2000 "
      "direct.steps=20 direct.starts=2 distance.kind=sliced_wasserstein");
  ASSERT_EQ(direct.exit_code, 0) << direct.err;
  for (const auto& row : results_of(scratch, "resonance/d").parameters)
    EXPECT_FALSE(row.error.has_value());
  const Outcome search = scratch.sagips(
      "solve resonance solve.method=policy_gradient run.name=p run.figures=false toy.events=2000 "
      "search.evaluations=40");
  EXPECT_EQ(search.exit_code, 0) << search.err;
}

TEST(Solve, RefusesWhatItDoesNotKnow) {
  Scratch scratch;
  const Outcome run = scratch.sagips("solve resonance solve.method=moment");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.error_lines(), 1) << run.err;
  EXPECT_NE(run.err.find("moments"), std::string::npos) << run.err;
  EXPECT_EQ(scratch.entries(), 0);
}

TEST(Compare, RunsMethodsSideBySide) {
  Scratch scratch;
  const Outcome run = scratch.sagips(
      "compare resonance compare.methods=[moments,likelihood,gan] compare.minutes=0.05 "
      "run.name=c toy.events=2000 train.epochs=10 batch.samples=4 batch.events=16");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const std::string word : {"moments", "likelihood", "gan", "mean |residual|", "floor"})
    EXPECT_NE(run.out.find(word), std::string::npos) << word << '\n' << run.out;
  EXPECT_TRUE(scratch.has("runs/resonance/c/visits.csv"));
  EXPECT_TRUE(scratch.has("runs/resonance/c/figures/methods_over_time.png"));
}

TEST(Compare, MeasuresByMomentsWhereNoTruthIsKnown) {
  Scratch scratch;
  ASSERT_EQ(scratch.sagips("generate resonance events=2000 out=toy.npy run.seed=3").exit_code, 0);
  scratch.write("mine.yaml", "workload: resonance\ndata: {file: toy.npy}\n");
  const Outcome run = scratch.sagips(
      "compare mine.yaml compare.methods=[moments,random] search.evaluations=20 run.name=c "
      "run.figures=false distance.kind=sliced_wasserstein");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("chi2 / degrees of freedom"), std::string::npos) << run.out;
}

TEST(Train, SaysHowTheMomentsJudgeTheNetworks) {
  Scratch scratch;
  const std::string tiny =
      "train resonance run.figures=false toy.events=2000 train.epochs=4 batch.samples=4 "
      "batch.events=16 generator.finish=networks ";
  const Outcome random = scratch.sagips(tiny + "run.name=r");
  ASSERT_EQ(random.exit_code, 0) << random.err;
  EXPECT_NE(random.err.find("from where the moments of the same data have their minimum (no errors "
                            "are stated)"),
            std::string::npos)
      << random.err;
  const Outcome warm = scratch.sagips(
      tiny + "run.name=w generator.start=moments optimizer.generator.learning_rate=1e-6");
  ASSERT_EQ(warm.exit_code, 0) << warm.err;
  EXPECT_NE(warm.out.find("covariance of the moments, and the networks' distance from them"),
            std::string::npos)
      << warm.out;
  EXPECT_FALSE(scratch.has("runs/resonance/r/covariance.npy")) << "no errors are stated";
  expect_covariance(scratch, "resonance/w", &sagips::record::ParameterResult::error);
}

TEST(Train, FinishesByMomentsWhereTheConfigSaysSo) {
  Scratch scratch;
  const Outcome run = scratch.sagips(
      "train resonance run.name=f run.figures=false toy.events=2000 train.epochs=4 "
      "batch.samples=4 batch.events=16 generator.finish=moments");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("discriminators on events kept aside"), std::string::npos) << run.out;
  const Results results = results_of(scratch, "resonance/f");
  EXPECT_EQ(results.method, "gan, finished by moments");
  expect_covariance(scratch, "resonance/f", &sagips::record::ParameterResult::error);
  for (const auto& row : results.parameters) {
    if (row.fixed) continue;
    ASSERT_TRUE(row.error && row.fit_value && row.fit_error);
    // networks of four epochs are far away; the moments' solution is not
    EXPECT_LT(std::abs(row.recovered - *row.fit_value), *row.fit_error) << row.name;
  }
}

TEST(Solve, FewEventsAreSaid) {
  Scratch scratch;
  const std::string solve = "solve resonance run.figures=false solve.test_events=0 toy.events=";
  EXPECT_NE(scratch.sagips(solve + "30").err.find("the data are 30 events"), std::string::npos);
  EXPECT_EQ(scratch.sagips(solve + "200").err.find("events (means of so few"), std::string::npos);
}
