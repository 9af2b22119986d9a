// Repeated closure tests from the shell.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sagips/core/text.hpp"
#include "sagips/record/experiments.hpp"
#include "sagips/record/results.hpp"
#include "tests/cli/command.hpp"

namespace {

const std::string folder = "runs/proxy1d/c/";
// Other minima, and many simulations at the last step, take most of a solution's time.
const std::string quick_moments =
    " moments.minima=false moments.repetitions=2 solve.test_events=0 run.figures=false ";
const std::string tiny_study = quick_moments + "toy.events=2000 run.name=c ";
const std::string tiny_networks =
    " toy.events=2000 run.name=c "
    "train.epochs=4 train.evaluate_every=4 batch.samples=4 batch.events=8 evaluation.samples=50 "
    "generator.width=8 discriminator.width=8 ";

std::vector<sagips::record::Experiment> experiments(const Scratch& scratch) {
  return sagips::record::read_experiments(scratch.path() + "/" + folder + "experiments");
}

}  // namespace

TEST(ClosureCommand, TellsPullsAndCoverageOfASolver) {
  Scratch scratch;
  const Outcome run = scratch.sagips("closure proxy1d --experiments 3 solve.bootstraps=2" +
                                     tiny_study + "run.figures=true");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const std::string word : {"pull mean", "pull width", "coverage", "covariance of the moments",
                                 "spread over bootstraps", "3 experiments", "failed: 0"})
    EXPECT_NE(run.out.find(word), std::string::npos) << run.out;
  EXPECT_EQ(line_count(scratch.read(folder + "closure.csv")), 13u);
  EXPECT_TRUE(scratch.has(folder + "figures/closure_pulls.png"));
  EXPECT_TRUE(scratch.has(folder + "figures/closure_coverage.png"));
  const auto all = experiments(scratch);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_NE(all[0].estimates.at(0).values, all[1].estimates.at(0).values) << "data of their own";
  for (const auto& one : all)  // 2,000 events leave a power almost anywhere in its range
    EXPECT_EQ(std::count(one.warnings.begin(), one.warnings.end(), "wide-error"), 1);
  EXPECT_NE(run.out.find("wide-error in 3"), std::string::npos) << run.out;
}

TEST(ClosureCommand, TellsEveryKindOfErrorOfNetworks) {
  Scratch scratch;
  const Outcome run = scratch.sagips(
      "closure proxy1d/closure --experiments 2 --members 2 closure.bootstraps=2"
      " run.figures=false" +
      tiny_networks);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const std::string word : {"eq. (8) over seeds", "means over seeds", "means over bootstraps",
                                 "bootstraps and seeds", "covariance of the moments"})
    EXPECT_NE(run.out.find(word), std::string::npos) << run.out;
  EXPECT_EQ(line_count(scratch.read(folder + "closure.csv")), 31u);
}

TEST(ClosureCommand, CountsExperimentsThatFail) {
  Scratch scratch;
  const std::string command =
      "closure proxy1d --experiments 3 --method random solve.minutes=1e-9" + tiny_study;
  const Outcome run = scratch.sagips(command);
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.out.find("failed: 3"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("3: "), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("tries them again"), std::string::npos) << run.err;
  const Outcome again = scratch.sagips(command);
  EXPECT_EQ(again.exit_code, 1) << again.err;
  EXPECT_NE(again.err.find("3 failed and tried again"), std::string::npos) << again.err;
  EXPECT_NE(again.out.find("failed: 3"), std::string::npos) << again.out;
  const Outcome attempts = scratch.run("cat " + folder + "experiments/*.jsonl");
  EXPECT_EQ(line_count(attempts.out), 6u) << attempts.out;
}

TEST(ClosureCommand, GoesOnWhereItWasStopped) {
  Scratch scratch;
  const std::string command = "closure proxy1d --experiments 4" + tiny_study;
  const Outcome stopped =
      scratch.run("{ " SAGIPS_PROGRAM " " + command +
                  " & study=$!; for i in $(seq 5000); do [ $(cat " + folder +
                  "experiments/*.jsonl 2>/dev/null | wc -l) -ge 1 ] && break; sleep 0.02; done;"
                  " kill -TERM $study; wait $study; }");
  EXPECT_EQ(stopped.exit_code, 3) << stopped.err;
  const std::size_t before = experiments(scratch).size();
  EXPECT_GE(before, 1u);
  EXPECT_LT(before, 4u) << "stopped before its end";
  const Outcome resumed = scratch.sagips(command);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(experiments(scratch).size(), 4u);
  Scratch undisturbed;
  ASSERT_EQ(undisturbed.sagips(command).exit_code, 0);
  EXPECT_EQ(scratch.read(folder + "closure.csv"), undisturbed.read(folder + "closure.csv"));
}

TEST(ClosureCommand, OfMeasuredEventsMakesToysOfWhatSolvesThem) {
  Scratch scratch;
  ASSERT_EQ(scratch.sagips("generate proxy1d N_u=2 events=3000 out=measured.npy").exit_code, 0);
  ASSERT_EQ(
      scratch.sagips("solve proxy1d data.file=measured.npy run.name=s" + quick_moments).exit_code,
      0);
  const std::string command =
      "closure proxy1d data.file=measured.npy --experiments 2 run.name=c" + quick_moments;
  const Outcome run = scratch.sagips(command);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("data solved by moments: N_u = "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("each experiment makes 3,000 events"), std::string::npos) << run.err;
  // the answer of `sagips solve`, to all its digits, is what pulls are compared with
  const auto results =
      sagips::record::read_results_json(scratch.path() + "/runs/proxy1d/s/results.json");
  const std::string truth = scratch.read(folder + "truth.yaml");
  for (const auto& parameter : results.parameters)
    EXPECT_NE(truth.find(sagips::core::round_trip(parameter.recovered)), std::string::npos)
        << truth;
  // the same experiments as toy data with these values
  std::string values;
  for (const auto& parameter : results.parameters)
    values +=
        " parameters." + parameter.name + ".toy=" + sagips::core::round_trip(parameter.recovered);
  ASSERT_EQ(scratch
                .sagips("closure proxy1d --experiments 2 toy.events=3000 run.name=toys" +
                        quick_moments + values)
                .exit_code,
            0);
  EXPECT_EQ(scratch.read(folder + "closure.csv"), scratch.read("runs/proxy1d/toys/closure.csv"));
}

TEST(ClosureCommand, OfMeasuredEventsSolvesThemOnceAndKnowsThemAgain) {
  Scratch scratch;
  ASSERT_EQ(scratch
                .sagips("generate gaussians events=2000 channels.set_1.toy_events=1000 "
                        "out=measured.npy")
                .exit_code,
            0);
  const std::string command =
      "closure measured.yaml --experiments 2 --method random solve.minutes=1e-9 run.name=c "
      "run.figures=false";
  const Outcome limit = scratch.sagips(command);
  EXPECT_EQ(limit.exit_code, 1) << limit.err;
  EXPECT_NE(limit.err.find("random was stopped by its limit"), std::string::npos) << limit.err;
  const std::string truth = "runs/gaussians/c/truth.yaml";
  EXPECT_FALSE(scratch.has(truth));
  // as if it had been solved
  scratch.write(
      truth,
      "channels:\n  set_1: {toy_events: 500, data: {file: ''}}\n  set_2: {data: {file: ''}}\n"
      "  set_3: {data: {file: ''}}\n");
  const Outcome again = scratch.sagips(command);
  EXPECT_EQ(again.err.find("data solved by"), std::string::npos) << again.err;
  EXPECT_NE(again.out.find("failed: 2"), std::string::npos) << again.out << again.err;
  ASSERT_EQ(scratch.sagips("generate gaussians events=2000 run.seed=2 out=measured.npy").exit_code,
            0);
  const Outcome other = scratch.sagips(command);
  EXPECT_EQ(other.exit_code, 2) << other.err;
  EXPECT_NE(other.err.find("content of the data file"), std::string::npos) << other.err;
}

TEST(ClosureCommand, RefusesBadInputBeforeAnythingIsMade) {
  Scratch scratch;
  const auto refused = [&](const std::string& arguments, const std::string& word) {
    const Outcome run = scratch.sagips("closure " + arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_EQ(run.error_lines(), 1) << run.err;
    EXPECT_NE(run.err.find(word), std::string::npos) << run.err;
    EXPECT_EQ(scratch.entries(), 0) << arguments;
  };
  refused("proxy1d data.file=events.npy", "events.npy");
  refused("proxy1d --method momments", "'moments'");
  refused("proxy1d --experiments 1", "closure.experiments");
  refused("proxy1d --method gan closure.bootstraps=1", "closure.bootstraps");
  refused("proxy1d/closure train.epochs=0", "train.");
}
