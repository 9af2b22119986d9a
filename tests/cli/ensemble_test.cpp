// Many trainings from the shell.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "sagips/core/text.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/study.hpp"
#include "tests/cli/command.hpp"

namespace {

using sagips::record::StudyMember;

const std::string tiny_members =
    " toy.events=2000 train.epochs=4 train.evaluate_every=2 batch.samples=4 batch.events=8 "
    "evaluation.samples=50 generator.width=8 discriminator.width=8 generator.start=random "
    "run.name=e ";
const std::string study_folder = "runs/proxy1d/e/";

sagips::record::Study study_of(const Scratch& scratch) {
  return sagips::record::read_study(scratch.path() + "/" + study_folder + "study.json");
}

std::size_t in_state(const Scratch& scratch, StudyMember::State state) {
  const auto members = study_of(scratch).members;
  return static_cast<std::size_t>(std::count_if(
      members.begin(), members.end(), [&](const auto& member) { return member.state == state; }));
}

}  // namespace

TEST(EnsembleCommand, ShowsWhatItsMembersSayTogether) {
  Scratch scratch;
  const std::string command = "ensemble proxy1d --members 3 --vary both" + tiny_members;
  const Outcome far = scratch.sagips(command + "run.name=far run.figures=false");
  ASSERT_EQ(far.exit_code, 0) << far.err;
  EXPECT_NE(far.err.find("no errors are stated"), std::string::npos) << far.err;
  EXPECT_EQ(far.out.find("errors:"), std::string::npos) << far.out;
  const Outcome run = scratch.sagips(command + "generator.start=moments");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const std::string file :
       {"study.json", "config.yaml", "log.txt", "results.json", "summary.csv", "ensemble.csv",
        "ensemble_size.csv", "figures/ensemble_size.png",
        "members/proxy1d/bootstrap_003/results.json"})
    EXPECT_TRUE(scratch.has(study_folder + file)) << file;
  for (const std::string word : {"bootstraps", "of the mean", "N_u", "RMS residual", "errors:"})
    EXPECT_NE(run.out.find(word), std::string::npos) << run.out;
  const auto results =
      sagips::record::read_results_json(scratch.path() + "/" + study_folder + "results.json");
  EXPECT_EQ(results.method, "ensemble of 3 gans");
  EXPECT_NE(results.errors_from.find("bootstraps"), std::string::npos);
  for (const auto& parameter : results.parameters) {
    EXPECT_GT(parameter.seed_error.value(), 0) << parameter.name;
    EXPECT_GT(parameter.bootstrap_error.value(), 0) << parameter.name;
    EXPECT_GE(parameter.error.value(), *parameter.bootstrap_error) << parameter.name;
  }
  EXPECT_EQ(line_count(scratch.read(study_folder + "ensemble.csv")), 7u);
  EXPECT_EQ(line_count(scratch.read(study_folder + "ensemble_size.csv")), 4u);
}

TEST(EnsembleCommand, VariesSeedsOrDataAndNothingElse) {
  Scratch scratch;
  ASSERT_EQ(scratch
                .sagips("ensemble proxy1d --members 2 --vary both run.seed=7 run.figures=false" +
                        tiny_members)
                .exit_code,
            0);
  const auto config = [&](const std::string& member) {
    return scratch.read(study_folder + "members/proxy1d/" + member + "/config.yaml");
  };
  for (const std::string name : {"seed_001", "seed_002", "bootstrap_001", "bootstrap_002"})
    EXPECT_NE(config(name).find("\n  seed: 7\n  bootstrap_seed:"), std::string::npos)
        << "the same toy data for " << name;
  EXPECT_NE(config("seed_002").find("  seed: 8\n  figures: false"), std::string::npos);
  EXPECT_NE(config("bootstrap_002").find("  seed: 7\n  figures: false"), std::string::npos);
  EXPECT_NE(config("bootstrap_002").find("bootstrap_seed: 2"), std::string::npos);
  EXPECT_NE(config("bootstrap_002").find("bootstrap: true"), std::string::npos);
  EXPECT_NE(config("seed_002").find("bootstrap: false"), std::string::npos);
}

TEST(EnsembleCommand, ComparesTheVariantsOfAGrid) {
  Scratch scratch;
  const Outcome run = scratch.sagips(
      "ensemble proxy1d --members 2 --grid generator.layers=1,2 --grid batch.samples=4,5" +
      tiny_members);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(study_of(scratch).variants.size(), 4u);
  EXPECT_EQ(in_state(scratch, StudyMember::State::done), 8u);
  EXPECT_NE(run.out.find("generator.layers=2, batch.samples=5"), std::string::npos) << run.out;
  EXPECT_TRUE(scratch.has(study_folder + "figures/ensemble_variants.png"));
  EXPECT_EQ(line_count(scratch.read(study_folder + "ensemble.csv")), 4 * 6 + 1u);
  EXPECT_NE(scratch.read(study_folder + "members/proxy1d/variant_004_seed_001/config.yaml")
                .find("samples: 5"),
            std::string::npos);
}

TEST(EnsembleCommand, ReportsAFailedMemberAndLooksAtTheOthers) {
  Scratch scratch;
  const Outcome run = scratch.sagips(
      "ensemble proxy1d --members 2 run.figures=false "
      "--grid optimizer.generator.learning_rate=1e-4,1e38" +
      tiny_members + "train.epochs=20");
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_EQ(in_state(scratch, StudyMember::State::failed), 2u);
  EXPECT_NE(run.out.find("variant_002_seed_001 failed: "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("epoch"), std::string::npos) << "the reason is told: " << run.out;
  EXPECT_EQ(line_count(scratch.read(study_folder + "ensemble.csv")), 7u) << "of the one that works";
}

TEST(EnsembleCommand, RefusesBadInputBeforeAnythingIsMade) {
  Scratch scratch;
  const auto refused = [&](const std::string& arguments, const std::string& word) {
    const Outcome run = scratch.sagips("ensemble proxy1d " + arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_EQ(run.error_lines(), 1) << run.err;
    EXPECT_NE(run.err.find(word), std::string::npos) << run.err;
    EXPECT_EQ(scratch.entries(), 0) << arguments;
  };
  refused("--members 1", "ensemble.members");
  refused("--members two", "ensemble.members");
  refused("--vary luck", "seeds");
  refused("--grid generator.wdth=1,2", "'width'");
  refused("--grid generator.width=8,-8", "generator.width");
  refused("--grid generator.width", "key=value");
  refused("--grid run.seed=1,2", "run.seed");
  refused("--grid data.bootstrap=true,false", "data.bootstrap");
  refused("--grid solve.method=moments,random", "solve.method");
  refused("data.file=nowhere.npy", "nowhere.npy");
  refused("--grid optimizer.order=generator_first,sideways", "optimizer.order");
  refused("--ranks 0", "ensemble.ranks");
  refused("--fresh --override", "--override");
}

TEST(EnsembleCommand, TellsWhenTheLauncherIsMissing) {
  Scratch scratch;
  const Outcome run = scratch.sagips(
      "ensemble proxy1d --members 2 --ranks 2 run.figures=false "
      "ensemble.launcher='no-such-launcher -n {ranks}'" +
      tiny_members);
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.out.find("cannot start 'no-such-launcher'"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("ensemble.launcher"), std::string::npos);
}

// Stopped in the middle by SIGTERM (exit code 3) or killed, the same command goes on: what is
// finished stays untouched, and the ensemble equals an undisturbed one.
class StoppedEnsemble : public testing::TestWithParam<std::string> {};

TEST_P(StoppedEnsemble, GoesOnWhereItWas) {
  const std::string longer = tiny_members + "train.epochs=400 ensemble.at_once=1 run.figures=false";
  Scratch undisturbed;
  ASSERT_EQ(undisturbed.sagips("ensemble proxy1d --members 3" + longer).exit_code, 0);
  Scratch scratch;
  const std::string first = study_folder + "members/proxy1d/seed_001/results.json";
  const Outcome stopped =
      scratch.run("{ " SAGIPS_PROGRAM " ensemble proxy1d --members 3" + longer +
                  " & study=$!; for i in $(seq 5000); do grep -q '\"done\"' " + study_folder +
                  "study.json 2>/dev/null && break; sleep 0.02; done; kill -" + GetParam() +
                  " $study; wait $study; }");
  EXPECT_EQ(stopped.exit_code, GetParam() == "TERM" ? 3 : 137) << stopped.err;
  ASSERT_TRUE(scratch.has(first));
  const auto written = std::filesystem::last_write_time(scratch.path() + "/" + first);
  const Outcome resumed = scratch.sagips("ensemble proxy1d --members 3" + longer);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("going on with"), std::string::npos) << resumed.err;
  EXPECT_EQ(std::filesystem::last_write_time(scratch.path() + "/" + first), written);
  EXPECT_EQ(scratch.read(study_folder + "ensemble.csv"),
            undisturbed.read(study_folder + "ensemble.csv"));
}

INSTANTIATE_TEST_SUITE_P(Signals, StoppedEnsemble, testing::Values("TERM", "KILL"),
                         [](const auto& name) { return name.param; });

// Such a member cannot go on, so it begins anew.
TEST(EnsembleCommand, CompletesMembersThatWereStoppedWithoutACheckpoint) {
  Scratch scratch;
  const std::string command =
      "ensemble proxy1d --members 2" + tiny_members +
      "train.epochs=3000 train.evaluate_every=1000 train.checkpoints.minutes=0 "
      "run.figures=false ensemble.at_once=1";
  const std::string first = study_folder + "members/proxy1d/seed_001/";
  const Outcome stopped = scratch.run("{ " SAGIPS_PROGRAM " " + command +
                                      " & study=$!; for i in $(seq 5000); do [ -s " + first +
                                      "metrics.jsonl ] && break; sleep 0.02; done;"
                                      " kill -TERM $study; wait $study; }");
  EXPECT_EQ(stopped.exit_code, 3) << stopped.err;
  EXPECT_FALSE(
      sagips::record::read_results_json(scratch.path() + "/" + first + "results.json").complete);
  const Outcome completed = scratch.sagips(command);
  EXPECT_EQ(completed.exit_code, 0) << completed.out << completed.err;
  EXPECT_EQ(in_state(scratch, StudyMember::State::done), 2u);
}

TEST(EnsembleCommand, TrainsTheOthersWhereAMembersFolderCannotBeUsed) {
  Scratch scratch;
  const std::string settings =
      tiny_members + "train.epochs=20 run.figures=false ensemble.at_once=1";
  const Outcome first = scratch.sagips("ensemble proxy1d --members 2" + settings);
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  scratch.run("mkdir -p " + study_folder + "members/proxy1d/seed_003/.lock");
  const Outcome more = scratch.sagips("ensemble proxy1d --override --members 4" + settings);
  EXPECT_EQ(more.exit_code, 1) << more.out << more.err;
  EXPECT_NE(more.out.find("seed_003 failed: "), std::string::npos) << more.out;
  EXPECT_EQ(in_state(scratch, StudyMember::State::failed), 1u);
  EXPECT_EQ(in_state(scratch, StudyMember::State::done), 3u);
}

TEST(EnsembleCommand, TakesMoreMembersWithOverrideButNoOtherTraining) {
  Scratch scratch;
  const std::string slow =
      tiny_members + "train.epochs=100000000 run.figures=false ensemble.at_once=1";
  // stopped once a member trains: its metrics grow, also beyond those of before
  const auto stopped_with = [&](const std::string& options) {
    const std::string metrics =
        "$(cat " + study_folder + "members/*/*/metrics.jsonl 2>/dev/null | wc -c)";
    return scratch.run(
        "{ before=" + metrics + "; " SAGIPS_PROGRAM " ensemble proxy1d " + options + slow +
        " & study=$!; for i in $(seq 5000); do [ " + metrics +
        " -gt $before ] && break; sleep 0.02; done; kill -TERM $study; wait $study; }");
  };
  const Outcome stopped = stopped_with("--members 2");
  EXPECT_EQ(stopped.exit_code, 3) << stopped.err;
  const Outcome changed =
      scratch.sagips("ensemble proxy1d --override --members 3" + slow + " batch.samples=5");
  EXPECT_EQ(changed.exit_code, 2) << changed.err;
  EXPECT_NE(changed.err.find("batch.samples: 4 -> 5"), std::string::npos) << changed.err;
  const Outcome advised =
      scratch.sagips("ensemble proxy1d --members 2" + slow + " batch.samples=5");
  EXPECT_EQ(advised.exit_code, 2) << advised.err;
  EXPECT_EQ(advised.err.find("--override"), std::string::npos) << "it would be refused, too";
  const Outcome other = scratch.sagips("ensemble proxy1d --override --members 2 --ranks 2" + slow);
  EXPECT_EQ(other.exit_code, 2) << "members on other ranks could not be compared";
  EXPECT_NE(other.err.find("ensemble.ranks: 1 -> 2"), std::string::npos) << other.err;
  const Outcome more = stopped_with("--override --members 3");
  EXPECT_EQ(more.exit_code, 3) << more.err;
  EXPECT_EQ(study_of(scratch).members.size(), 3u);
  EXPECT_EQ(in_state(scratch, StudyMember::State::failed), 0u) << more.err;
}
