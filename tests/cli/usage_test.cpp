// What a person or a script meets before and around a run: messages, explanations, completion, output.
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/command.hpp"

namespace {

// In the scratch folder, with the program under its name on the path.
Outcome as_a_user(const Scratch& scratch, const std::string& line) {
  return scratch.run("{ PATH=$(dirname " SAGIPS_PROGRAM "):$PATH; " + line + "; }");
}

std::string expect_refusal(const Scratch& scratch, const std::string& arguments,
                           const std::string& words) {
  const Outcome refused = scratch.sagips(arguments);
  EXPECT_EQ(refused.exit_code, 2) << arguments;
  EXPECT_EQ(refused.error_lines(), 1) << refused.err;
  EXPECT_EQ(refused.out, "") << arguments;
  EXPECT_NE(refused.err.find(words), std::string::npos) << refused.err;
  EXPECT_EQ(scratch.entries(), 0) << arguments;
  return refused.err;
}

}  // namespace

TEST(Usage, ExplainKnowsWhatItemsOfListsMayHold) {
  Scratch scratch;
  const Outcome pipeline = scratch.sagips("explain pipeline");
  EXPECT_EQ(pipeline.exit_code, 0) << pipeline.err;
  for (const std::string key :
       {"pipeline = []", "pipeline.N.script", "pipeline.N.plugin", "pipeline.N.stage",
        "pipeline.N.process", "pipeline.N.timeout_s", "pipeline.N.detector.smearing",
        "pipeline.N.event_filter.low", "example:\n", "those of `custom`"})
    EXPECT_NE(pipeline.out.find(key), std::string::npos) << key << "\n" << pipeline.out;
  EXPECT_NE(scratch.sagips("explain parameters").out.find("parameters.NAME.low"),
            std::string::npos);
  const Outcome filter = scratch.sagips("explain event_filter");
  EXPECT_NE(filter.out.find("pipeline.N.event_filter.steepness"), std::string::npos) << filter.out;
  const std::string detector = scratch.sagips("explain detector").out;
  EXPECT_NE(detector.find("proxy1d (as detector), resonance;"), std::string::npos) << detector;
  const Outcome own = scratch.sagips("explain detector workload=proxy1d");
  EXPECT_EQ(own.out.find("detector\n"), 0U) << own.out;
  EXPECT_EQ(own.out.find("example:"), std::string::npos) << "that is a problem of its own";
  const Outcome misspelt = scratch.sagips("explain event_filtr");
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_NE(misspelt.err.find("'pipeline.N.event_filter'"), std::string::npos) << misspelt.err;
}

TEST(Usage, ExplainSaysWhoseValuesItShows) {
  Scratch scratch;
  const std::string of_all = scratch.sagips("explain train.epochs").out;
  EXPECT_NE(of_all.find("those of `custom`; explain KEY workload=NAME"), std::string::npos)
      << of_all;
  const std::string of_one = scratch.sagips("explain parameters.mass").out;
  EXPECT_NE(of_one.find("parameters.mass.low"), std::string::npos) << of_one;
  EXPECT_NE(of_one.find("of `resonance`. Only some workloads have this key: resonance;"),
            std::string::npos)
      << of_one;
  EXPECT_EQ(scratch.sagips("explain pipeline.0.process").out,
            scratch.sagips("explain pipeline.N.process").out);
  EXPECT_NE(scratch.sagips("explain channels.near.weight").out.find("channels.NAME.weight"),
            std::string::npos);
  const Outcome channels = scratch.sagips("explain channels");
  EXPECT_EQ(channels.exit_code, 0) << channels.err;
  EXPECT_NE(channels.out.find(".weight = "), std::string::npos) << channels.out;
  EXPECT_NE(channels.out.find("gaussians"), std::string::npos) << channels.out;
}

TEST(Usage, ListShowsStagesWithTheirOptions) {
  Scratch scratch;
  const std::string stages = scratch.sagips("list stages").out;
  for (const std::string words : {"  script ", "  plugin ", "  process ", "timeout_s",
                                  "  detector ", "  event_filter ", "steepness"})
    EXPECT_NE(stages.find(words), std::string::npos) << words << "\n" << stages;
  EXPECT_EQ(stages.find("arar_arar"), std::string::npos) << stages;
  const std::string all = scratch.sagips("list").out;
  EXPECT_NE(all.find(stages), std::string::npos) << all;
  EXPECT_NE(all.find("arar_arar"), std::string::npos) << all;
  expect_refusal(scratch, "list stage", "'stages'");
}

TEST(Usage, MissingArgumentsShowAnExampleThatRuns) {
  const std::string before = "for example: ";
  expect_refusal(Scratch(), "", before + "sagips solve proxy1d");
  for (const std::string command :
       {"train", "check", "fit", "solve", "compare", "ensemble", "convergence", "closure",
        "scaling", "simulate", "generate", "predict", "report", "new", "completion"}) {
    Scratch scratch;
    const std::string line = expect_refusal(scratch, command, "`sagips " + command + "` needs ");
    const std::string example = line.substr(line.find(before) + before.size());
    ASSERT_NE(example.find("sagips " + command), std::string::npos) << line;
    // the others take long; README and guides have their like, and a test runs those
    if (command == "check" || command == "generate" || command == "new" ||
        command == "completion") {
      const Outcome run = as_a_user(scratch, example.substr(0, example.find('\n')));
      EXPECT_EQ(run.exit_code, 0) << example << run.err;
    }
  }
}

TEST(Usage, UnknownCommandsAreRefusedWithTheNearest) {
  Scratch scratch;
  for (const std::string arguments : {"nosuch", "nosuch --help", "nosuch proxy1d --help"})
    expect_refusal(scratch, arguments, "unknown command 'nosuch', known: train, ");
  expect_refusal(scratch, "sovle proxy1d", "unknown command 'sovle', did you mean 'solve'?");
}

TEST(Usage, WhatIsGivenTwiceIsRefusedOrItsLastValueCounts) {
  expect_refusal(Scratch(), "ensemble gaussians --members 2 --members 3",
                 "--members: is given twice, '2' and '3'. Give it once.");
  expect_refusal(Scratch(), "report one --out a.html --out=b.html", "--out: is given twice");
  expect_refusal(Scratch(), "train gaussians --timeline train.timeline=3",
                 "--timeline: sets train.timeline, and 'train.timeline=3' does, too");
  expect_refusal(Scratch(), "ensemble gaussians --grid batch.samples=1,2 --grid batch.events=0,8",
                 "batch.events");
  expect_refusal(Scratch(), "ensemble gaussians ensemble.members=3 --members 3",
                 "--members: sets ensemble.members, and ");
  Scratch scratch;
  const Outcome twice =
      scratch.sagips("generate gaussians events=7 events=5 out=a.npy out=toy.npy");
  EXPECT_EQ(twice.exit_code, 0) << twice.err;
  EXPECT_EQ(twice.out.find("5 events"), 0U) << "the last counts: " << twice.out;
  EXPECT_FALSE(scratch.has("a.npy"));
  const Outcome group = scratch.sagips("check gaussians batch.samples=0 batch.samples=32");
  EXPECT_EQ(group.exit_code, 0) << group.err;
}

TEST(Usage, TheShellCompletesCommandsWorkloadsOptionsAndKeys) {
  Scratch scratch;
  scratch.write("p.yaml",
                "parameters: {lifetime: {low: 0.1, high: 5}}\nobservables: [t]\n"
                "pipeline: [{detector: {}}]\n");
  const auto completed = [&](const std::string& words) {
    const Outcome found = scratch.run(
        "bash -c 'PATH=$(dirname " SAGIPS_PROGRAM
        "):$PATH; source <(sagips completion bash); complete -p sagips >&2; COMP_WORDS=(sagips " +
        words +
        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sagips_words; echo \"${COMPREPLY[@]}\"'");
    EXPECT_EQ(found.err, "complete -o default -F _sagips_words sagips\n");
    return found.out;
  };
  EXPECT_EQ(completed("so"), "solve\n");
  EXPECT_EQ(completed("train prox"),
            "proxy1d proxy2d proxy1d/closure proxy1d/cold proxy1d/paper\n");
  const std::string keys = completed("train proxy1d optim");
  EXPECT_NE(keys.find("optimizer.generator.learning_rate= "), std::string::npos) << keys;
  EXPECT_EQ(keys.find("batch.samples"), std::string::npos) << keys;
  EXPECT_EQ(completed("train proxy1d --timeline optimizer.generator.b"),
            "optimizer.generator.beta1= optimizer.generator.beta2= "
            "optimizer.generator.batches_per_update=\n");
  EXPECT_EQ(completed("solve p.yaml parameters.lifetime.l"), "parameters.lifetime.low=\n");
  EXPECT_EQ(completed("train classify optimizer.learn"), "optimizer.learning_rate=\n");
  EXPECT_EQ(completed("explain moments.features.deg"), "moments.features.degree\n");
  EXPECT_EQ(completed("solve p.yaml pipeline").find("pipeline= pipeline.0.detector.enabled= "), 0U);
  EXPECT_EQ(completed("solve p.yaml pipeline.N"), "\n") << "it stands for any item";
  EXPECT_EQ(completed("ensemble proxy1d --mem"), "--members\n");
  EXPECT_EQ(completed("ensemble proxy1d --members tr"), "\n") << "a value";
  EXPECT_EQ(completed("train proxy1d data.file = tr"), "\n") << "a value: files";
  EXPECT_EQ(completed("train nowhere.yaml ba"), "\n");
  EXPECT_EQ(completed("list st"), "stages\n");
  EXPECT_EQ(completed("explain optimizer.generator.beta1"), "optimizer.generator.beta1\n");
  expect_refusal(Scratch(), "completion fish", "bash or zsh");
}

TEST(Usage, QuietLeavesWarningsAlone) {
  Scratch scratch;
  for (const std::string command :
       {"solve gaussians toy.events=2000", "fit gaussians toy.events=2000", "check gaussians",
        "generate gaussians events=100 out=toy.npy", "predict runs/gaussians/t samples=10"}) {
    if (command.starts_with("predict")) {
      const Outcome train = scratch.sagips(
          "train gaussians --quiet run.name=t run.figures=false toy.events=2000 train.epochs=4 "
          "batch.samples=4 batch.events=8");
      ASSERT_EQ(train.exit_code, 0) << train.err;
      EXPECT_EQ(train.out, "");
      EXPECT_EQ(train.err.find("info"), std::string::npos) << train.err;
      EXPECT_NE(scratch.read("runs/gaussians/t/log.txt").find(" info "), std::string::npos);
    }
    const Outcome run = scratch.sagips(command + " --quiet");
    EXPECT_EQ(run.exit_code, 0) << command << run.err;
    EXPECT_EQ(run.out, "") << command;
    EXPECT_EQ(run.err, "") << command;
  }
  EXPECT_TRUE(scratch.has("toy.yaml"));
  const Outcome wrong = scratch.sagips("solve gaussians --quiet batch.sampels=3");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.error_lines(), 1) << wrong.err;
}

TEST(Usage, JsonHasStandardOutputForItself) {
  Scratch scratch;
  const std::string small = " toy.events=2000 run.figures=false --json";
  for (const std::string command :
       {"solve gaussians", "fit gaussians", "train gaussians train.epochs=2",
        "ensemble gaussians --members 2 train.epochs=2", "closure gaussians --experiments 2"}) {
    const Outcome run = scratch.sagips(command + small);
    ASSERT_EQ(run.exit_code, 0) << command << run.err;
    EXPECT_NE(run.err.find("run folder: "), std::string::npos) << run.err;
    scratch.write("out.json", run.out);
    const Outcome read = scratch.run(
        "python3 -c 'import json, os; found = json.load(open(\"out.json\")); "
        "assert os.path.isdir(found[\"folder\"]); "
        "rows = found[\"closure\" if \"closure\" in found else \"parameters\"]; "
        "print(rows[0].get(\"name\") or rows[0][\"parameter\"], "
        "type(rows[0].get(\"recovered\") or rows[0][\"pull_mean\"]).__name__)'");
    EXPECT_EQ(read.out, "p_1 float\n") << command << read.err << run.out;
  }
  const Outcome both = scratch.sagips("solve gaussians --quiet" + small);
  EXPECT_EQ(both.out.find("{\n  \"folder\": \"runs/gaussians/"), 0U) << both.out;
  EXPECT_EQ(both.err, "");
  EXPECT_EQ(scratch.sagips("solve gaussians nosuch=1" + small).out, "");
}
