// Files that work elsewhere: what relative paths count from, and what a command needs of what another left.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/command.hpp"

namespace {

const std::string few_epochs =
    " toy.events=2000 train.epochs=3 batch.samples=4 batch.events=8 evaluation.samples=50 "
    "generator.width=8 discriminator.width=8 run.figures=false";
const std::string no_extras = " toy.events=2000 run.figures=false solve.test_events=0";

const std::string lifetime_in_us =
    "parameters: {lifetime: {low: 0.1, high: 5, toy: 2.2, unit: us}}\nobservables: [\"t [us]\"]\n";

/// A folder `problem` with p.yaml and all that it names, and beside it the folder `work`.
struct Folders : Scratch {
  explicit Folders(const std::string& pipeline, const std::string& more = "") {
    std::filesystem::create_directories(path() + "/problem/sub");
    std::filesystem::create_directory(path() + "/work");
    EXPECT_EQ(in("problem/sub", SAGIPS_MAKE_SCRIPTS).exit_code, 0);
    std::filesystem::copy_file(SAGIPS_PLUGIN_FILE, path() + "/problem/stages.so");
    std::filesystem::copy_file(SAGIPS_SIMULATOR, path() + "/problem/simulator");
    write("problem/p.yaml", lifetime_in_us + "pipeline: " + pipeline + "\n" + more);
  }
  Outcome in(const std::string& folder, const std::string& command) const {
    return run("cd " + folder + " && " + command);
  }
  Outcome sagips_in(const std::string& folder, const std::string& arguments) const {
    return in(folder, SAGIPS_PROGRAM " " + arguments);
  }
};

const std::string script_beside = "[{script: sub/my_stage.pt}]";
const std::string plugin_beside = "[{plugin: stages.so, stage: decay}]";
const std::string process_beside =
    "[{process: \"./simulator decay\", noise_dimensions: 1, gradient: true, log: said.txt}]";

}  // namespace

TEST(Files, OfAYamlAreFoundFromEveryFolder) {
  for (const std::string& pipeline : {script_beside, plugin_beside, process_beside}) {
    Folders folders(pipeline);
    ASSERT_EQ(folders.sagips_in("problem", "generate p.yaml events=2000 out=toy.npy").exit_code, 0);
    folders.write("problem/p.yaml", folders.read("problem/p.yaml") + "data: {file: toy.npy}\n");
    for (const auto& [folder, file] :
         {std::pair{"work", "../problem/p.yaml"}, {"problem", "p.yaml"}, {".", "problem/p.yaml"}}) {
      const Outcome run =
          folders.sagips_in(folder, std::string("train ") + file + few_epochs + " run.name=x");
      EXPECT_EQ(run.exit_code, 0) << folder << ", " << pipeline << ": " << run.err;
    }
    const std::string config = "work/runs/custom/x/config.yaml";
    EXPECT_NE(folders.read(config).find(folders.path() + "/problem/toy.npy"), std::string::npos)
        << folders.read(config);
    const Outcome again = folders.sagips("train " + config + " run.name=again");
    EXPECT_EQ(again.exit_code, 0) << "the effective config works from everywhere: " << again.err;
  }
}

TEST(Files, OfTheCommandLineAreFoundFromTheCurrentFolder) {
  Folders folders(script_beside);
  ASSERT_EQ(
      folders.sagips_in("work", "generate ../problem/p.yaml events=2000 out=toy.npy").exit_code, 0);
  const std::string check = "check ../problem/p.yaml data.file=toy.npy";
  EXPECT_EQ(folders.sagips_in("work", check).exit_code, 0);
  const Outcome there = folders.sagips_in("work", check + " pipeline.0.script=sub/my_stage.pt");
  EXPECT_EQ(there.exit_code, 2);
  EXPECT_EQ(there.error_lines(), 1) << there.err;
  EXPECT_NE(there.err.find("sub/my_stage.pt: is not there"), std::string::npos) << there.err;
  folders.write("problem/p.yaml", folders.read("problem/p.yaml") + "data: {file: toy.npy}\n");
  const Outcome missing = folders.sagips_in("work", "check ../problem/p.yaml");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("../problem/toy.npy"), std::string::npos) << missing.err;
}

TEST(Files, ACommandStartsInTheFolderOfItsYamlOrAsItSays) {
  Folders folders(process_beside);
  ASSERT_EQ(folders.sagips_in("work", "solve ../problem/p.yaml run.name=x" + no_extras).exit_code,
            0);
  EXPECT_TRUE(folders.has("problem/pids")) << "the simulator notes its process where it runs";
  EXPECT_FALSE(folders.has("work/pids"));
  const Outcome elsewhere = folders.sagips_in(
      "work",
      "check ../problem/p.yaml pipeline.0.folder=. 'pipeline.0.process=../problem/simulator "
      "decay'");
  EXPECT_EQ(elsewhere.exit_code, 0) << elsewhere.err;
  EXPECT_TRUE(folders.has("work/pids"));
  const Outcome nowhere =
      folders.sagips_in("work", "check ../problem/p.yaml pipeline.0.folder=no/such");
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_EQ(nowhere.error_lines(), 1) << nowhere.err;
  EXPECT_NE(nowhere.err.find("no/such"), std::string::npos) << nowhere.err;
}

TEST(Files, TheSameRunIsRecognisedFromAnotherFolder) {
  Folders folders(script_beside);
  // experiments that fail are what the same command tries again
  const std::string settings = " --experiments 2 --method random solve.minutes=1e-9 run.name=x" +
                               no_extras + " run.folder=" + folders.path() + "/runs";
  const Outcome first = folders.sagips_in("problem", "closure p.yaml" + settings);
  ASSERT_EQ(first.exit_code, 1) << first.err;
  const Outcome again = folders.sagips_in("work", "closure ../problem/p.yaml" + settings);
  EXPECT_NE(again.err.find("2 failed and tried again"), std::string::npos) << again.err;
  const Outcome other = folders.sagips_in(
      "work", "closure ../problem/p.yaml pipeline.0.script=../problem/sub/nan_later.pt" + settings);
  EXPECT_EQ(other.exit_code, 2) << other.err;
  EXPECT_NE(other.err.find("another config"), std::string::npos) << other.err;
}

TEST(Generate, WritesAYamlThatRunsAsItIs) {
  for (const std::string& pipeline : {script_beside, plugin_beside, process_beside}) {
    Folders folders(pipeline, "solve: {method: moments, test_events: 0}\nrun: {name: mine}\n");
    const Outcome made = folders.sagips_in("work",
                                           "generate ../problem/p.yaml lifetime=3 events=3000 "
                                           "out=../problem/sub/toy.npy");
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const std::string yaml = folders.read("problem/sub/toy.yaml");
    for (const std::string words : {"\n  file: toy.npy\n", "\n    truth: 3\n", "\n    low: 0.1\n",
                                    "t [us]", "test_events: 0"})
      EXPECT_NE(yaml.find(words), std::string::npos) << words << " is not in\n" << yaml;
    EXPECT_EQ(yaml.find("mine"), std::string::npos) << "another run: " << yaml;
    EXPECT_EQ(yaml.find("learning_rate"), std::string::npos)
        << "nothing that is as usual: " << yaml;
    const Outcome solve = folders.sagips("solve problem/sub/toy.yaml run.figures=false");
    EXPECT_EQ(solve.exit_code, 0) << solve.err;
    EXPECT_NE(solve.out.find("lifetime"), std::string::npos) << solve.out;
    // what lies beside the YAML moves with it
    if (pipeline != script_beside) continue;
    folders.write("problem/sub/q.yaml", lifetime_in_us + "pipeline: [{script: my_stage.pt}]\n");
    ASSERT_EQ(
        folders.sagips("generate problem/sub/q.yaml events=2000 out=problem/sub/toy.npy").exit_code,
        0);
    const Outcome moved =
        folders.run("mv problem/sub away && " SAGIPS_PROGRAM " check away/toy.yaml");
    EXPECT_EQ(moved.exit_code, 0) << moved.err << folders.read("away/toy.yaml");
  }
}

TEST(Generate, WritesAYamlOfSeveralChannelsThatRunsAsItIs) {
  Scratch scratch;
  std::filesystem::create_directory(scratch.path() + "/sub");
  const Outcome made =
      scratch.sagips("generate gaussians events=2000 out=sub/toy.npy parameters.p_1.low=-6");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Outcome solve = scratch.sagips("solve sub/toy.yaml run.figures=false solve.test_events=0");
  EXPECT_EQ(solve.exit_code, 0) << solve.err << scratch.read("sub/toy.yaml");
}

TEST(Predict, NeedsTheNetworksAlone) {
  Folders folders(plugin_beside);
  ASSERT_EQ(folders.sagips_in("work", "train ../problem/p.yaml run.name=x" + few_epochs).exit_code,
            0);
  const std::string predict = "predict runs/custom/x samples=50 out=";
  ASSERT_EQ(folders.sagips_in("work", predict + "before.npy").exit_code, 0);
  ASSERT_EQ(folders.run("rm -r problem").exit_code, 0);
  const Outcome after = folders.sagips_in("work", predict + "after.npy");
  EXPECT_EQ(after.exit_code, 0) << after.err;
  EXPECT_EQ(folders.read("work/after.npy"), folders.read("work/before.npy"));
}
