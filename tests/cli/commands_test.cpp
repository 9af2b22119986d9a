#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/cli/command.hpp"

namespace {

// Moments at a training's start and end take longer than all else that these tests look at.
const std::string networks_alone = " generator.start=random generator.finish=networks";
const std::string with_moments =
    " toy.events=2000 train.epochs=4 train.evaluate_every=2 batch.samples=4 batch.events=8 "
    "evaluation.samples=50";
const std::string tiny = with_moments + networks_alone;

}  // namespace

TEST(Commands, VersionAndHelpEndWithZero) {
  Scratch scratch;
  EXPECT_EQ(scratch.sagips("--version").exit_code, 0);
  EXPECT_NE(scratch.sagips("--version").out.find("sagips 0."), std::string::npos);
  for (const std::string command :
       {"train", "check", "compare", "fit", "solve", "ensemble", "closure", "generate", "predict",
        "list", "explain", "completion"}) {
    const Outcome help = scratch.sagips(command + " --help");
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_NE(help.out.find("Examples:"), std::string::npos) << command;
  }
}

TEST(Commands, TrainFillsARunFolderThatExplainsItself) {
  Scratch scratch;
  const Outcome run = scratch.sagips("train proxy1d run.name=a" + with_moments);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const std::string file :
       {"README.txt", "config.yaml", "log.txt", "metrics.jsonl", "results.json", "summary.csv",
        "generator_samples.npy", "generator.npy", "environment.json", "timing.csv", "report.html",
        "figures/residuals_over_time.svg", "figures/densities.pdf",
        "figures/residuals_over_time.png", "figures/observable_sigma_1.png",
        "figures/generator_samples.png"})
    EXPECT_TRUE(scratch.has("runs/proxy1d/a/" + file)) << file;
  for (const std::string word : {"N_u", "b_d", "floor", "runs/proxy1d/a"})
    EXPECT_NE(run.out.find(word), std::string::npos) << run.out;
}

TEST(Commands, ReportRefusesWhatIsNoRun) {
  Scratch scratch;
  scratch.write("file.txt", "x");
  for (const std::string arguments : {"report .", "report absent", "report file.txt", "report"}) {
    const Outcome refused = scratch.sagips(arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments;
    EXPECT_EQ(refused.error_lines(), 1) << refused.err;
  }
  EXPECT_FALSE(scratch.has("report.html")) << "nothing half-written";
  ASSERT_EQ(scratch.sagips("solve proxy1d run.name=s run.figures=false toy.events=2000").exit_code,
            0);
  EXPECT_FALSE(scratch.has("runs/proxy1d/s/report.html"));
  EXPECT_EQ(scratch.sagips("report runs/proxy1d/s --out runs").exit_code, 2);
  EXPECT_EQ(scratch.sagips("report runs/proxy1d/s --figures file.txt").exit_code, 2);
  EXPECT_EQ(scratch.sagips("report runs/proxy1d/s --figures paper --out s.html").exit_code, 0);
  EXPECT_TRUE(scratch.has("s.html"));
  EXPECT_TRUE(scratch.has("paper/correlations_1.csv"));
  EXPECT_TRUE(scratch.has("paper/correlations_1.pdf"));
}

TEST(Commands, TrainKeepsWhatItSawOnTheWay) {
  Scratch scratch;
  const Outcome run = scratch.sagips(
      "train proxy1d --timeline run.name=a run.figures=false train.snapshots=3" + tiny);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const std::string epoch : {"0", "2", "4"})
    EXPECT_TRUE(scratch.has("runs/proxy1d/a/snapshots/epoch_00000000" + epoch + ".safetensors"))
        << epoch;
  const std::string trace = scratch.read("runs/proxy1d/a/trace.json");
  for (const std::string span :
       {"draw", "pipeline", "generator forward", "backward", "update", "evaluation", "step"})
    EXPECT_NE(trace.find("\"" + span + "\""), std::string::npos) << span;
  EXPECT_NE(scratch.run("ls runs/proxy1d/a/tensorboard").out.find("events.out.tfevents"),
            std::string::npos);
  const Outcome bare = scratch.sagips(
      "train proxy1d run.name=b run.figures=false train.snapshots=0 run.tensorboard=false" + tiny);
  ASSERT_EQ(bare.exit_code, 0) << bare.err;
  for (const std::string folder : {"snapshots", "tensorboard", "timeline", "trace.json"})
    EXPECT_FALSE(scratch.has("runs/proxy1d/b/" + folder)) << folder;
}

// An ensemble's members differ by the training's chance or by the data's.
TEST(Commands, SeedsOfDataAndTrainingAreApart) {
  Scratch scratch;
  const auto generator_and_fit = [&](const std::string& name, const std::string& seeds) {
    const Outcome run = scratch.sagips(
        "train proxy1d run.figures=false train.snapshots=2 run.name=" + name + " " + seeds + tiny);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    std::istringstream table(scratch.read("runs/proxy1d/" + name + "/summary.csv"));
    std::string fit;
    std::getline(table, fit);
    for (int column = 0; column < 10; ++column) std::getline(table, fit, ',');  // fit_value of N_u
    return std::pair(scratch.read("runs/proxy1d/" + name + "/generator.npy"), fit);
  };
  const auto base = generator_and_fit("base", "run.seed=1 data.seed=1");
  EXPECT_EQ(generator_and_fit("same", "run.seed=1"), base) << "-1 is run.seed";
  const auto training = generator_and_fit("training", "run.seed=2 data.seed=1");
  EXPECT_NE(training.first, base.first);
  EXPECT_EQ(training.second, base.second) << "the same events";
  EXPECT_NE(generator_and_fit("data", "run.seed=1 data.seed=2").second, base.second);
}

// without the norms the densities' sizes cannot be told apart
TEST(Commands, TrainSaysWhichFloorsAreNotKnown) {
  Scratch scratch;
  const Outcome run =
      scratch.sagips("train proxy1d run.name=a run.figures=false fit.reference=ignore" + tiny);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(scratch.has("runs/proxy1d/a/results.json"));
  EXPECT_TRUE(scratch.has("runs/proxy1d/a/generator.npy"));
  const std::string log = scratch.read("runs/proxy1d/a/log.txt");
  EXPECT_NE(log.find("no Cramer-Rao floor of N_u, N_d"), std::string::npos) << log;
}

TEST(Commands, FitGivesNoRelativeResidualOfATruthOfZero) {
  Scratch scratch;
  const Outcome fit = scratch.sagips(
      "fit resonance parameters.slope.toy=0 toy.events=3000 run.name=f run.figures=false");
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  const std::string table = scratch.read("runs/resonance/f/summary.csv");
  EXPECT_EQ(table.find("inf"), std::string::npos) << table;
  EXPECT_NE(table.find("slope,1/GeV,no,0,"), std::string::npos) << table;
  EXPECT_TRUE(scratch.has("runs/resonance/f/covariance.npy"));
}

TEST(Commands, EffectiveConfigRepeatsARunBitForBit) {
  Scratch scratch;
  ASSERT_EQ(
      scratch.sagips("train proxy1d run.name=a run.figures=false run.seed=5" + tiny).exit_code, 0);
  ASSERT_EQ(scratch.sagips("train runs/proxy1d/a/config.yaml run.name=b").exit_code, 0);
  EXPECT_EQ(scratch.read("runs/proxy1d/a/generator.npy"),
            scratch.read("runs/proxy1d/b/generator.npy"));
  EXPECT_EQ(scratch.read("runs/proxy1d/a/generator_samples.npy"),
            scratch.read("runs/proxy1d/b/generator_samples.npy"));
  ASSERT_EQ(scratch.sagips("train runs/proxy1d/a/config.yaml run.name=c run.seed=6").exit_code, 0);
  EXPECT_NE(scratch.read("runs/proxy1d/a/generator.npy"),
            scratch.read("runs/proxy1d/c/generator.npy"));
}

TEST(Commands, AConfigMayStartFromShippedSettings) {
  Scratch scratch;
  scratch.write("mine.yaml", "workload: proxy1d/cold\ngenerator: {average: 0.5}\n");
  const std::string rest = " run.figures=false run.fit=false" + tiny;
  ASSERT_EQ(scratch.sagips("train mine.yaml run.name=a" + rest).exit_code, 0);
  ASSERT_EQ(scratch.sagips("train proxy1d/cold generator.average=0.5 run.name=b" + rest).exit_code,
            0);
  std::string config = scratch.read("runs/proxy1d/a/config.yaml");
  config.replace(config.find("name: a"), 7, "name: b");
  EXPECT_EQ(config, scratch.read("runs/proxy1d/b/config.yaml"));
}

TEST(Commands, GeneratedToysTrainAndFitThroughTheirSettings) {
  Scratch scratch;
  ASSERT_EQ(scratch.sagips("generate proxy1d N_u=2 events=5000 out=toy.npy").exit_code, 0);
  EXPECT_NE(scratch.read("toy.yaml").find("N_u:\n    truth: 2\n"), std::string::npos)
      << scratch.read("toy.yaml");
  const Outcome fit = scratch.sagips("fit toy.yaml run.figures=false");
  EXPECT_EQ(fit.exit_code, 0) << fit.err;
  EXPECT_NE(fit.out.find("5,000 events"), std::string::npos) << fit.out;
  EXPECT_EQ(scratch.sagips("train toy.yaml run.figures=false" + tiny).exit_code, 0);
}

TEST(Commands, TruthIsUnknownForMeasuredEvents) {
  Scratch scratch;
  ASSERT_EQ(scratch.sagips("generate resonance events=3000 out=m.npy").exit_code, 0);
  const Outcome fit = scratch.sagips("fit resonance data.file=m.npy run.name=f run.figures=false");
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  EXPECT_EQ(scratch.read("runs/resonance/f/results.json").find("\"truth\": 91"), std::string::npos);
}

TEST(Commands, PredictRepeatsTheStoredProposals) {
  Scratch scratch;
  ASSERT_EQ(scratch.sagips("train proxy1d run.name=a run.figures=false" + tiny).exit_code, 0);
  const Outcome predict = scratch.sagips("predict runs/proxy1d/a samples=10000 out=p.npy");
  ASSERT_EQ(predict.exit_code, 0) << predict.err;
  EXPECT_EQ(scratch.read("p.npy"), scratch.read("runs/proxy1d/a/generator_samples.npy"));
}

TEST(Commands, CheckShowsEveryProblemTogether) {
  Scratch scratch;
  EXPECT_EQ(scratch.sagips("check proxy1d").exit_code, 0);
  EXPECT_EQ(scratch.entries(), 0);
  const Outcome check = scratch.sagips("check resonance device=cuda data.file=nowhere.csv");
  EXPECT_EQ(check.exit_code, 2);
  EXPECT_NE(check.err.find("cuda"), std::string::npos);
  EXPECT_NE(check.err.find("nowhere.csv"), std::string::npos);
}

TEST(Commands, ExplainKnowsEveryKeyAndSuggestsTheNearest) {
  Scratch scratch;
  EXPECT_NE(scratch.sagips("explain optimizer.generator.learning_rate").out.find("> 0"),
            std::string::npos);
  EXPECT_NE(scratch.sagips("explain parameters workload=resonance").out.find("parameters.mass.low"),
            std::string::npos);
  const Outcome wrong = scratch.sagips("explain batch.sampels");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("'samples'"), std::string::npos) << wrong.err;
}

TEST(Commands, InterruptedTrainingLeavesAUsableResult) {
  Scratch scratch;
  const Outcome run = scratch.run(
      "{ " SAGIPS_PROGRAM
      " train proxy1d run.name=a run.figures=false toy.events=2000 train.epochs=100000000"
      " batch.samples=4 batch.events=8" +
      networks_alone +
      " & training=$!; for i in $(seq 1000); do"
      " [ -s runs/proxy1d/a/metrics.jsonl ] && break; sleep 0.1; done;"  // it trains now
      " kill -INT $training; wait $training; }");
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_TRUE(scratch.has("runs/proxy1d/a/results.json"));
  EXPECT_NE(scratch.read("runs/proxy1d/a/results.json").find("interrupted"), std::string::npos);
  EXPECT_EQ(scratch.sagips("predict runs/proxy1d/a samples=10").exit_code, 0);
}

TEST(Commands, InterruptedSolutionSaysSo) {
  Scratch scratch;
  const Outcome run =
      scratch.run("{ " SAGIPS_PROGRAM
                  " solve proxy1d solve.method=random solve.minutes=60 toy.events=2000 run.name=a"
                  " run.figures=false >out 2>err & solving=$!; for i in $(seq 1000); do"
                  " grep -q 'evaluations in' err && break; sleep 0.1; done;"
                  " kill -INT $solving; wait $solving; }");
  EXPECT_EQ(run.exit_code, 3) << scratch.read("err");
  EXPECT_NE(scratch.read("out").find("random: interrupted after"), std::string::npos);
}

TEST(Commands, EarlyStopEndsARunThatNoLongerImproves) {
  Scratch scratch;
  const Outcome run = scratch.sagips(
      "train proxy1d run.name=a run.figures=false toy.events=2000 train.epochs=1000 "
      "train.evaluate_every=1 batch.samples=2 "
      "batch.events=4 optimizer.generator.learning_rate=1e-12 early_stop.patience=3" +
      networks_alone);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(scratch.read("runs/proxy1d/a/results.json").find("early stop"), std::string::npos);
}

TEST(Commands, TimeLimitEndsARun) {
  Scratch scratch;
  const Outcome run = scratch.sagips(
      "train proxy1d run.name=a run.figures=false toy.events=2000 train.epochs=0 "
      "train.minutes=0.01 batch.samples=2 batch.events=4" +
      networks_alone);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(scratch.read("runs/proxy1d/a/results.json").find("time limit"), std::string::npos);
}
